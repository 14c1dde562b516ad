import {
  type BadEnd,
  type ClearedAttempt,
  type Decided,
  type Decision,
  type Failure,
  MAX_FAILURES,
  type ReleaseStatus,
  type UnderPolicy,
} from './model.ts';

/** What became of a release, as a value: every change returns another. Times are RFC 3339. */
export interface Ledger extends Omit<ReleaseStatus, 'policies' | 'failures' | 'cleared'> {
  /** By name; '' = the variables. */
  readonly policies: Readonly<Record<string, UnderPolicy>>;
  /** By UID of the node. */
  readonly failures: Readonly<Record<string, Failure>>;
  /** By UID of the node. */
  readonly cleared: Readonly<Record<string, ClearedAttempt>>;
}

export const EMPTY: Ledger = { policies: {}, failures: {}, cleared: {} };

/** What the API server has of it. */
export const ledgerOf = (status: ReleaseStatus | null | undefined): Ledger => ({
  ...status,
  policies: status?.policies ?? {},
  failures: status?.failures ?? {},
  cleared: status?.cleared ?? {},
});

/** What a time counts as. @param time which one of the ledger it is */
type CountsAs = (stated: string, time: string) => string;

/** The ledger with other times, where something counts from them. */
export function withTimes(ledger: Ledger, countsAs: CountsAs): Ledger {
  const { policies, failures } = ledger;
  const of =
    (name: string): CountsAs =>
    (stated, time) =>
      countsAs(stated, `${time} ${name}`);
  return {
    ...replaced(ledger, ['firstOfferedAt', 'unusedSince'], countsAs),
    policies: mapValues(policies, ({ checks, ...one }, policy) => ({
      ...replaced(one, ['lastFinishedAt', 'lastSeenAt'], of(policy)),
      ...(checks && { checks: mapValues(checks, (check, key) => replaced(check, ['at'], of(`${policy} ${key}`))) }),
    })),
    failures: mapValues(failures, (one, uid) => replaced(one, ['at'], of(uid))),
  };
}

function replaced<K extends string, T extends { readonly [key in K]?: string | null | undefined }>(
  of: T,
  times: readonly K[],
  countsAs: CountsAs,
): T {
  const known = times.flatMap((time) => (of[time] == null ? [] : [[time, countsAs(of[time], time)] as const]));
  return { ...of, ...Object.fromEntries(known) };
}

const mapValues = <T, U>(
  of: Readonly<Record<string, T>>,
  map: (one: T, key: string) => U,
): Readonly<Record<string, U>> => Object.fromEntries(Object.entries(of).map(([key, one]) => [key, map(one, key)]));

/** Enters a bad end. An attempt is entered once, and not again where a person has cleared it. */
export function enter(ledger: Ledger, uid: string, failure: Failure): Ledger {
  const before = ledger.failures[uid];
  if (ledger.cleared[uid]?.attempt === failure.attempt) return ledger;
  if (before?.attempt === failure.attempt && before.reason === failure.reason) return ledger;
  if (isFullFor(ledger, uid)) return ledger;
  return { ...ledger, failures: { ...ledger.failures, [uid]: failure } };
}

/** Nothing more of the node can be entered. */
export const isFullFor = ({ failures }: Ledger, uid: string): boolean =>
  !(uid in failures) && Object.keys(failures).length >= MAX_FAILURES;

export function remove(ledger: Ledger, uid: string): Ledger {
  if (!(uid in ledger.failures)) return ledger;
  const { [uid]: _, ...failures } = ledger.failures;
  return { ...ledger, failures };
}

/** Without the entries that are over. */
export const removeWhere = (ledger: Ledger, isOver: (key: string, failure: Failure) => boolean): Ledger =>
  Object.entries(ledger.failures).reduce(
    (one, [key, failure]) => (isOver(key, failure) ? remove(one, key) : one),
    ledger,
  );

/** A person takes entries back: what they are about is not entered again. Of too many the oldest are forgotten. */
export function clear(ledger: Ledger, uids: readonly string[], said: Decided): Ledger {
  const taken = uids.flatMap((uid) => {
    const { attempt, node } = ledger.failures[uid] ?? {};
    return attempt === undefined ? [] : [[uid, { attempt, node, ...said }] as const];
  });
  const others = Object.entries(ledger.cleared).filter(([uid]) => !uids.includes(uid));
  const cleared = Object.fromEntries([...others, ...taken].slice(-MAX_FAILURES));
  return uids.reduce(remove, { ...ledger, cleared });
}

export const under = (ledger: Ledger, policy: string, more: UnderPolicy): Ledger => ({
  ...ledger,
  policies: { ...ledger.policies, [policy]: { ...ledger.policies[policy], ...more } },
});

/** Of several that are made for one release: a halt decides, then a permission. */
export function strictest(decisions: readonly Decision[]): Decision {
  return (['Halt', 'Allow'] as const).find((one) => decisions.includes(one)) ?? 'Automatic';
}

/** The ledger with what people see of it at a glance. */
export function shown(ledger: Ledger, decision: Decision): Ledger {
  const failures = Object.values(ledger.failures);
  return { ...ledger, state: stateOf(ledger, decision), failed: failures.length, message: messageOf(ledger) };
}

function stateOf(
  { policies, unusedSince, published, firstOfferedAt }: Ledger,
  decision: Decision,
): ReleaseStatus['state'] {
  const all = Object.values(policies);
  if (decision === 'Halt') return 'Halted';
  if (decision === 'Allow') return 'Allowed';
  if (all.some(({ haltedAt }) => haltedAt != null)) return 'Halted';
  if (unusedSince != null) return 'Unused';
  if (published != null && firstOfferedAt == null) return 'Published';
  return all.length > 0 && all.every(({ provenAt }) => provenAt != null) ? 'Proven' : 'Proving';
}

/** Names that a message has at most: it is a column. */
const NAMED = 10;

function messageOf({ policies, failures }: Ledger): string | null {
  const failed = Object.values(failures).map(({ node, reason }) => `${node} (${reason})`);
  if (failed.length === 0) return null;
  const halted = Object.entries(policies).flatMap(([name, { haltedAt, limit }]) =>
    haltedAt == null ? [] : `${name || 'the variables'} (${limit ?? '?'} may fail)`,
  );
  const more = failed.length > NAMED ? ` and ${failed.length - NAMED} more` : '';
  const where = halted.length > 0 ? `halted under ${halted.toSorted().join(', ')}: ` : '';
  return `${where}failed on ${failed.toSorted().slice(0, NAMED).join(', ')}${more}`;
}

/** The reasons of bad ends that an agent states. */
const STATED: ReadonlySet<string> = new Set<BadEnd>(['PrepareFailed', 'BootFailed', 'Reverted', 'Unstable']);

export const isStatedBadEnd = (reason: string): reason is BadEnd => STATED.has(reason);
