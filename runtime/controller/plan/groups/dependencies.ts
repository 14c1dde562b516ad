import { neverStarts } from '../facts/node.ts';
import { DAY_MS, instantOf } from '../../../lib/clock.ts';
import { getOrInsert } from '../../../lib/maps.ts';
import type { UnderPolicy } from '../../../api/release/model.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import type { EnteredLedgers } from '../releases/entered.ts';
import type { Group, Groups } from './groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { OsReleaseName } from '../facts/ledgers.ts';
import type { OsRelease } from '../releases/os-release.ts';
import { provenWith } from '../releases/proving.ts';
import { type GateResult, nextAfter, PASS, stoppedBy } from '../facts/requeue.ts';
import { found, listed } from '../facts/verdict.ts';

/** Where a release has to be complete first: under the policies that `after` names. */
export class Dependencies {
  readonly #groups: Groups;
  readonly #entered: Pick<EnteredLedgers, 'all' | 'of'>;
  readonly #known = new Map<OsRelease, GateResult>();

  constructor(groups: Groups, entered: Pick<EnteredLedgers, 'all' | 'of'>) {
    this.#groups = groups;
    this.#entered = entered;
  }

  /** What keeps the nodes of the group from starting on the release; it names the first policy that it waits for. */
  of(group: Group, release: OsRelease): GateResult {
    if (group.rules.after.length === 0) return PASS;
    return getOrInsert(this.#known, release, () => this.#lookUp(group, release));
  }

  #lookUp({ rules }: Group, name: OsReleaseName): GateResult {
    for (const awaited of rules.after) {
      const group = this.#groups.named(awaited);
      if (!group) return waiting(`there is no policy ${awaited} that could be waited for`);
      if (this.#isComplete(group, name)) continue;
      if (group.view.kind === 'broken') return waiting(`policy ${awaited} cannot be obeyed`);
      if (group.releases.family(name.family).isContested) {
        return waiting(`nodes of policy ${awaited} are in conflict with another policy`);
      }
      const passedAt = this.#passedAt(group, name.family);
      if (passedAt <= group.now) continue;
      if (passedAt !== Infinity)
        return waiting(`policy ${awaited} has no nodes of ${name.family} to prove ${name.version}`, passedAt);
      const release = group.releases.of(name.family, name.version);
      const missing = missingFor(group, release);
      const why =
        missing.length > 0 ? `: it is not proven without nodes that are held or away: ${listed(missing)}` : '';
      return {
        ...waiting(`${name.version} is not complete under policy ${awaited}${why}`),
        changesAt: release.completeAt,
      };
    }
    return PASS;
  }

  /** Policies that the group does not wait for, and of which family they have no nodes, and when time alone adds one. */
  passedOver({ rules, releases, now }: Group): { readonly passed: readonly PassedOver[]; readonly changesAt: number } {
    const families = new Set(releases.all.filter(({ wanted }) => wanted).map(({ family }) => family));
    const awaited = rules.after.flatMap((policy) => {
      const group = this.#groups.named(policy);
      return group ? [...families].map((family) => ({ policy, family, at: this.#passedAt(group, family) })) : [];
    });
    const passed = awaited.filter(({ at }) => at <= now).map(({ policy, family }) => ({ policy, family }));
    const changesAt = nextAfter(
      now,
      awaited.map(({ at }) => at),
    );
    return { passed, changesAt };
  }

  /**
   * From when on nobody waits for nodes of the family under the policy, which it has not had for so long: an autoscaler may only have taken the last one
   * away. Infinity where it has some, or may have some, and where nothing was written down yet.
   */
  #passedAt({ rules, view, releases }: Group, family: string): number {
    const { members, isContested } = releases.family(family);
    if (members > 0 || isContested || view.kind === 'broken') return Infinity;
    const kept = [...this.#entered.all].filter((one) => one.family === family).map((one) => this.#entered.of(one));
    const seen = kept.flatMap(({ policies }) => instantOf(policies[rules.name ?? '']?.lastSeenAt) ?? []);
    const begun = kept.flatMap(({ firstOfferedAt }) => instantOf(firstOfferedAt) ?? []);
    return (seen.length > 0 ? Math.max(...seen) : Math.min(...begun)) + UNSEEN_MS;
  }

  /** What was complete once stays so, however many nodes join, but not where it is halted since. */
  #isComplete(group: Group, name: OsReleaseName): boolean {
    const { releases } = group;
    const { family, version } = name;
    if (releases.of(family, version).isHalted) return false;
    if (this.#under(group, name).completedAt != null) return true;
    if (releases.family(family).isContested) return false;
    return (
      releases.of(family, version).completeAt <= group.now ||
      (isForgotten(releases.of(family, version)) && this.#isNewerComplete(group, name))
    );
  }

  #under({ rules }: Group, name: OsReleaseName): UnderPolicy {
    return this.#entered.of(name).policies[rules.name ?? ''] ?? {};
  }

  #isNewerComplete(group: Group, { family, version }: OsReleaseName): boolean {
    const newer = [...group.releases.all, ...this.#entered.all].filter(
      (one) => one.family === family && compareSemver(one.version, version) > 0,
    );
    return newer.some((one) => {
      const { isHalted, completeAt } = group.releases.of(family, one.version);
      return !isHalted && (completeAt <= group.now || this.#under(group, one).completedAt != null);
    });
  }
}

/** A family that a policy has not had for as long is not waited for. */
const UNSEEN_MS = 7 * DAY_MS;

export interface PassedOver {
  readonly policy: string;
  readonly family: string;
}

const waiting = (message: string, until?: number): GateResult => stoppedBy(found('WaitingForPolicy', message, until));

/** Nodes that are held, not Ready or silent, where the release cannot be proven without them. Nothing else would name them to a person. */
function missingFor({ members, rules }: Group, { family, version, canaries, proof }: OsRelease): readonly string[] {
  const unsettled = members.filter(({ isSettled }) => !isSettled);
  const out = unsettled.filter(({ node, health }) => neverStarts(node) || !node.ready || health.agentSilent);
  const known = new Set(canaries);
  const waits = ({ node, shadow }: AssessedNode): boolean =>
    node.family === family && shadow?.status?.target_version === version && !known.has(node.name);
  const missing = new Set(out.filter(waits));
  if (missing.size === 0) return [];
  const able = members.filter((info) => known.has(info.node.name) || (waits(info) && !missing.has(info)));
  const ofItsKind = Map.groupBy(able, ({ node }) => provenWith(node, rules.proof));
  const isNeeded = ({ node }: AssessedNode): boolean =>
    (ofItsKind.get(provenWith(node, rules.proof)) ?? []).length < proof.neededFor(node);
  return [...missing].filter(isNeeded).map(({ node }) => node.name);
}

/** Nobody is offered it any more, and nobody is on the way to it. */
const isForgotten = ({ isOffered, isUnderWay }: OsRelease): boolean => !isOffered && !isUnderWay;
