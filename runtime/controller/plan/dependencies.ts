import { compareSemver } from '../../shadow/semver.ts';
import type { Group, Groups } from './groups.ts';
import type { AssessedNode } from './health.ts';
import type { OsReleaseName } from './ledgers.ts';
import type { OsRelease, OsReleases } from './releases.ts';
import { type GateResult, PASS } from './requeue.ts';
import { keepsOut } from './snapshot.ts';
import { found, listed } from './verdict.ts';

/** Where a release has to be complete first: under the policies that `after` names. */
export class Dependencies {
  readonly #groups: Groups;
  readonly #known = new Map<OsRelease, GateResult>();

  constructor(groups: Groups) {
    this.#groups = groups;
  }

  /** What keeps the nodes of the group from starting on the release; it names the first policy that it waits for. */
  of(group: Group, release: OsRelease): GateResult {
    if (group.rules.after.length === 0) return PASS;
    const known = this.#known.get(release);
    if (known) return known;
    const result = this.#lookUp(group, release);
    this.#known.set(release, result);
    return result;
  }

  #lookUp({ rules }: Group, name: OsReleaseName): GateResult {
    for (const awaited of rules.after) {
      const group = this.#groups.named(awaited);
      if (!group) return waiting(`there is no policy ${awaited} that could be waited for`);
      if (isComplete(group, name)) continue;
      if (group.view.kind === 'broken') return waiting(`policy ${awaited} cannot be obeyed`);
      if (group.releases.family(name.family).isContested) {
        return waiting(`nodes of policy ${awaited} are in conflict with another policy`);
      }
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
}

const waiting = (message: string): GateResult => ({
  finding: found('WaitingForPolicy', message),
  changesAt: Infinity,
});

/** Nodes that are held, not Ready or silent, where the release cannot be proven without them. Nothing else would name them to a person. */
function missingFor({ members }: Group, { family, version, canaries, proof }: OsRelease): readonly string[] {
  const unsettled = members.filter(({ isSettled }) => !isSettled);
  const out = unsettled.filter(({ node, health }) => keepsOut(node) || !node.ready || health.agentSilent);
  const known = new Set(canaries);
  const waits = ({ node, shadow }: AssessedNode): boolean =>
    node.family === family && shadow?.status?.target_version === version && !known.has(node.name);
  const missing = out.filter(waits);
  if (missing.length === 0) return [];
  const others = members.filter(waits);
  return known.size + others.length - missing.length < proof.needed ? missing.map(({ node }) => node.name) : [];
}

/** A release that was complete once stays so: a node that joins later does not hold others up. */
function isComplete({ view, releases, now }: Group, name: OsReleaseName): boolean {
  const { family, version } = name;
  const isStated = view.resource?.status?.releases?.some(
    (one) => one.family === family && one.version === version && one.completedAt != null,
  );
  if (isStated) return true;
  const { members, isContested } = releases.family(family);
  if (isContested) return false;
  return members === 0 || releases.of(family, version).completeAt <= now || isSkipped(releases, name);
}

/** The nodes have passed over the release: none runs it as the newest that it is offered, and a newer one runs there. */
function isSkipped(releases: OsReleases, { family, version }: OsReleaseName): boolean {
  const { newest, offered } = releases.family(family);
  if (offered.has(version) || releases.of(family, version).isUnderWay) return false;
  return newest !== undefined && compareSemver(version, newest) < 0;
}
