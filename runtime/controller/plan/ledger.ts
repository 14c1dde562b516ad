import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { mergePatch } from '../../lib/json.ts';
import type { ProofRules } from '../../policy/policy.ts';
import type { Quantity } from '../../policy/quantity.ts';
import { EMPTY, enter, isStatedBadEnd, type Ledger, shown, strictest, under } from '../../release/ledger.ts';
import type { BadEnd, Decision, Failure, UnderPolicy } from '../../release/model.ts';
import { ANY_FAMILY, releaseObjectName } from '../../release/names.ts';
import { failedOn } from './blame.ts';
import type { Group, Groups } from './groups.ts';
import type { AssessedNode } from './health.ts';
import type { OsRelease, OsReleaseName } from './releases.ts';
import { compare, type ReleaseView, type Snapshot } from './snapshot.ts';
import { type Finding, found } from './verdict.ts';

/** What the ledger of one release is to be. */
export interface ReleaseWrite extends OsReleaseName {
  /** Of its object. */
  readonly name: string;
  /** As it was read; undefined where there is none yet. */
  readonly seen: ReleaseView | undefined;
  /** Undefined where nobody needs it any more. */
  readonly ledger: Ledger | undefined;
}

/** What is decided on. */
interface Known {
  readonly snapshot: Pick<Snapshot, 'releases'>;
  readonly groups: Groups;
  readonly managed: readonly AssessedNode[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

const keyOf = ({ family, version }: OsReleaseName): string => `${family} ${version}`;

/** The ledgers of a snapshot. */
export class Ledgers {
  readonly #own = new Map<string, ReleaseView>();
  readonly #decisions = new Map<string, Decision[]>();
  readonly #refused: ReadonlyMap<string, string>;

  constructor({ objects, refused }: Snapshot['releases']) {
    this.#refused = refused;
    for (const view of objects) {
      const key = keyOf(view);
      if (view.name === releaseObjectName(view)) this.#own.set(key, view);
      this.#decisions.set(key, [...(this.#decisions.get(key) ?? []), view.decision]);
    }
  }

  get own(): Iterable<ReleaseView> {
    return this.#own.values();
  }

  /** That the controller keeps; undefined where there is none yet. */
  of(release: OsReleaseName): ReleaseView | undefined {
    return this.#own.get(keyOf(release));
  }

  /** What people have decided. */
  decisionOn({ family, version }: OsReleaseName): Decision {
    const said = [family, ANY_FAMILY].flatMap((one) => this.#decisions.get(keyOf({ family: one, version })) ?? []);
    return strictest(said);
  }

  /** Whether some are being made: what is said of their nodes meanwhile is over within a moment, and not worth a write each. */
  awaits(writes: readonly ReleaseWrite[]): boolean {
    return writes.some(({ name, seen }) => !seen && !this.#refused.has(name));
  }

  /** Why nothing starts on it: what becomes of it could not be remembered. */
  unkept(release: OsReleaseName): Finding | undefined {
    const refused = this.#refused.get(releaseObjectName(release));
    if (refused !== undefined) return found('WriteRefused', `${release.version}: ${refused}`);
    return this.of(release) ? undefined : found('WaitingForSlot', `the ledger of ${release.version} is being made`);
  }
}

/** What is to be written to the ledgers (rule F2), at most one write for each release, in the order of their families. */
export function ledgerWrites(ledgers: Ledgers, known: Known): readonly ReleaseWrite[] {
  const seeds = known.snapshot.releases.seeds ? seedsOf(known) : [];
  const wanted = new Map<string, OsReleaseName>([...ledgers.own].map((view) => [keyOf(view), view]));
  for (const { releases } of known.groups.all) {
    for (const release of releases.all) if (needsLedger(release)) wanted.set(keyOf(release), release);
  }
  for (const seed of seeds) wanted.set(keyOf(seed), seed);
  const sorted = [...wanted].toSorted(([a], [b]) => compare(a, b));
  return sorted.flatMap(([, release]) => {
    const seen = ledgers.of(release);
    const own = seeds.filter((seed) => keyOf(seed) === keyOf(release));
    const ledger = own.reduce((one, { add }) => add(one), seen?.ledger ?? EMPTY);
    const kept = keptOf(ledger, { release, decision: ledgers.decisionOn(release) }, known);
    if (!kept && !seen) return [];
    if (kept && seen && isSame(kept, seen.ledger)) return [];
    return { family: release.family, version: release.version, name: releaseObjectName(release), seen, ledger: kept };
  });
}

const isSame = (a: Ledger, b: Ledger): boolean => Object.keys(mergePatch({ ...a }, { ...b })).length === 0;

/** Somebody waits for it, heads for it or has failed on it. */
const needsLedger = ({ wanted, isUnderWay, failed }: OsRelease): boolean => wanted || isUnderWay || failed.size > 0;

interface Kept {
  readonly release: OsReleaseName;
  readonly decision: Decision;
}

const DAY_MS = 86_400_000;
/** A release that nobody needs is forgotten after this time. */
const UNUSED_MS = 7 * DAY_MS;

/** Undefined where it is to be forgotten. A person's decision keeps it, and so do failures. */
function keptOf(before: Ledger, { release, decision }: Kept, { groups, now }: Known): Ledger | undefined {
  const { family, version } = release;
  let ledger = before;
  let isUsed = groups.families.knows(family, version);
  for (const group of groups.all) {
    ledger = underPolicy(ledger, group, { release, now });
    isUsed ||= group.releases.of(family, version).isUnderWay;
  }
  const unusedSince = isUsed ? null : (ledger.unusedSince ?? rfc3339(now));
  const isForgotten = (instantOf(unusedSince) ?? now) + UNUSED_MS <= now;
  if (isForgotten && decision === 'Automatic' && Object.keys(ledger.failures).length === 0) return undefined;
  return shown({ ...ledger, unusedSince, firstOfferedAt: ledger.firstOfferedAt ?? rfc3339(now) }, decision);
}

interface At {
  readonly release: OsReleaseName;
  readonly now: number;
}

function underPolicy(ledger: Ledger, group: Group, { release, now }: At): Ledger {
  const { rules, releases } = group;
  if (releases.family(release.family).members === 0) return ledger;
  const name = rules.name ?? '';
  const before = ledger.policies[name] ?? {};
  const at = rfc3339(now);
  const seen = releases.of(release.family, release.version);
  return under(ledger, name, {
    ...provenUnder(before, { group, seen, at }),
    ...haltedUnder(before, seen, at),
    completedAt: before.completedAt ?? (seen.completeAt <= now ? at : null),
    lastSeenAt: isRecent(before.lastSeenAt, now) ? before.lastSeenAt : at,
  });
}

interface SeenUnder {
  readonly group: Group;
  readonly seen: OsRelease;
  readonly at: string;
}

/** What is proven stays so for the same policy and the same proof. */
function provenUnder({ provenAt, uid, met }: UnderPolicy, { group, seen, at }: SeenUnder): UnderPolicy {
  const now = { uid: group.view.resource?.uid ?? '', met: saysOf(group.rules.proof) };
  const isProven = provenAt != null && uid === now.uid && met === now.met;
  return isProven || !seen.proof.proven ? {} : { ...now, provenAt: at };
}

function haltedUnder({ haltedAt, limit }: UnderPolicy, { proof, failuresLeft }: OsRelease, at: string): UnderPolicy {
  if (failuresLeft > 0) return { haltedAt: null, limit: null };
  return { haltedAt: haltedAt ?? at, limit: limit ?? String(proof.mayFail) };
}

const isRecent = (time: string | null | undefined, now: number): boolean =>
  (instantOf(time) ?? -Infinity) + DAY_MS > now;

/** What a policy says of proof: a share stays a share while the fleet grows. */
const saysOf = ({ nodes, soakMs }: ProofRules): string => `${quantityText(nodes)} for ${soakMs / 1000}s`;

function quantityText(quantity: Quantity): string {
  if (quantity.kind === 'unlimited') return quantity.kind;
  return quantity.kind === 'count' ? String(quantity.count) : `${quantity.percent}%`;
}

/** What a term adds to a ledger that another has kept. */
interface Seed extends OsReleaseName {
  readonly add: (ledger: Ledger) => Ledger;
}

/** What shadows say of failures, and policies of releases. What people have cleared since stays cleared. */
function seedsOf({ groups, managed, now }: Known): readonly Seed[] {
  const failures = managed.flatMap((info) => failuresOn(info, now));
  const said = groups.all.flatMap(({ view, rules }) =>
    (view.resource?.status?.releases ?? []).map((one): Seed => {
      const { family, version, firstOfferedAt, provenAt, completedAt } = one;
      const proven = provenAt != null && { uid: view.resource?.uid, provenAt, met: saysOf(rules.proof) };
      const add = (ledger: Ledger): Ledger => {
        const name = rules.name ?? '';
        const known = ledger.policies[name];
        const more = { ...(known?.provenAt == null && proven), completedAt: known?.completedAt ?? completedAt ?? null };
        return { ...under(ledger, name, more), firstOfferedAt: ledger.firstOfferedAt ?? firstOfferedAt ?? null };
      };
      return { family, version, add };
    }),
  );
  return [...failures, ...said];
}

function failuresOn({ node, shadow, health, ruling }: AssessedNode, now: number): readonly Seed[] {
  if (!shadow?.status) return [];
  const { last_failure: last, state_transition_failure_timestamp: failedAt } = shadow.status;
  const at = rfc3339(Math.min(instantOf(failedAt) ?? now, now));
  return failedOn(shadow, health).map((version) => {
    const attempt = `${node.uid} ${version} ${failedAt ?? ''}`;
    const reason = last?.version === version && isStatedBadEnd(last.reason) ? last.reason : reasonOf(health);
    const failure: Failure = { node: node.name, policy: ruling.policy?.name ?? '', attempt, reason, at };
    const isCleared = (ledger: Ledger): boolean =>
      (instantOf(ledger.cleared[node.uid]?.at) ?? -Infinity) >= Date.parse(at);
    const add = (ledger: Ledger): Ledger =>
      node.uid in ledger.failures || isCleared(ledger) ? ledger : enter(ledger, node.uid, failure);
    return { family: node.family, version, add };
  });
}

function reasonOf({ notReturned, soak }: AssessedNode['health']): BadEnd {
  if (notReturned) return 'NotReturned';
  return soak === 'failed' ? 'SoakFailed' : 'BootFailed';
}
