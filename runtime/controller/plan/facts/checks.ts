import { MAX_CHECK_MESSAGE, type CheckState } from '../../../api/release/model.ts';
import type { Check } from '../../../api/policy/checks.ts';
import { HOUR_MS, instantOf, MINUTE_MS, rfc3339 } from '../../../lib/clock.ts';
import { shortened } from '../../../lib/parts.ts';
import { NEVER, nextAfter } from './requeue.ts';

/** A check as it goes from try to try. What is known of it stands in the ledger of its release; the answers alone come from outside. */

/** What was answered to a try. There is none while a Job runs. */
export interface CheckAnswer {
  /** `unheard`: whoever is asked gave no answer, and may give one in a moment. */
  readonly kind: 'passed' | 'failed' | 'unknown' | 'unheard';
  /** The same for as long as the answer is: it is written to the cluster. */
  readonly message: string;
  /** It was given when the time of the try was over. */
  readonly isLate?: boolean;
}

/** By the name of the try. */
export type CheckAnswers = ReadonlyMap<string, CheckAnswer>;

/** A try that is to be made. */
export interface CheckTry {
  /** Names the try and no other: every process gives it the same. */
  readonly id: string;
  readonly check: Check;
  readonly about: CheckSubject;
  /** What nobody can say then has failed, milliseconds since the Unix epoch. A Job has its own time. */
  readonly endsAt: number;
}

interface CheckSubject {
  readonly family: string;
  readonly version: string;
  readonly policy: string;
  /** By name: those that are to prove the release, or the one that is checked. */
  readonly nodes: readonly string[];
}

/** By key. */
export type CheckStates = Readonly<Record<string, CheckState>>;

export type When = 'before' | 'after';

export const nodeKey = (uid: string, when: When, { name }: Pick<Check, 'name'>): string => `${uid} ${when} ${name}`;

/** The parts of a key: of a check of the release itself it is the name alone. */
type KeyParts =
  | { readonly uid: string; readonly when: When; readonly name: string }
  | { readonly uid?: undefined; readonly when?: undefined; readonly name: string };

export function partsOf(key: string): KeyParts {
  const [uid = '', when, name = ''] = key.split(' ');
  return when === undefined ? { name: key } : { uid, when: when === 'before' ? 'before' : 'after', name };
}

/** The nodes that have a check under way or answered, by UID. */
export function nodesNamedIn<T extends { readonly node: { readonly uid: string } }>(
  states: CheckStates,
  members: readonly T[],
): ReadonlyMap<string, T> {
  const uids = new Set(Object.keys(states).flatMap((key) => partsOf(key).uid ?? []));
  const named = uids.size === 0 ? [] : members.filter(({ node }) => uids.has(node.uid));
  return new Map(named.map((info) => [info.node.uid, info]));
}

/** How a check stands that is asked for an attempt; undefined where it has not begun. */
export function standing(states: CheckStates, key: string, asked: Asked): CheckState | undefined {
  const { [key]: state } = states;
  return state?.says === asked.check.says && state.attempt === asked.attempt ? state : undefined;
}

interface Asked {
  readonly check: Check;
  readonly attempt: string;
}

interface OfNode {
  readonly uid: string;
  readonly when: When;
  readonly checks: readonly Check[];
  readonly attempt: string;
  readonly now: number;
}

/** What was asked before a drain is believed for so long: a node may wait for something else after it. */
const BELIEVED_MS = 5 * MINUTE_MS;

const listed = (states: CheckStates, { uid, when, checks, attempt }: OfNode) =>
  checks.map((check) => {
    const key = nodeKey(uid, when, check);
    return { key, check, state: standing(states, key, { check, attempt }) };
  });

/** Whether all have passed, and so long ago that all are asked again. */
export function arePast(states: CheckStates, list: OfNode): boolean {
  if (list.when === 'after' || list.checks.length === 0) return false;
  const passedAt = listed(states, list).map(({ state }) => (state?.result === 'Passed' ? instantOf(state.at) : NEVER));
  return Math.max(...passedAt.map((at) => at ?? -Infinity)) + BELIEVED_MS <= list.now;
}

/** The first check of a node that has not passed; undefined where all have. */
export function openCheck(
  states: CheckStates,
  list: OfNode,
): { readonly key: string; readonly check: Check; readonly state: CheckState | undefined } | undefined {
  return listed(arePast(states, list) ? {} : states, list).find(({ state }) => state?.result !== 'Passed');
}

/** A node whose check before its drain has failed is left as it is for so long. */
const LEFT_MS = HOUR_MS;

/** Until when a node is left as it is; -Infinity where its check has not failed. */
export const leftUntil = (state: CheckState | undefined): number =>
  state?.result === 'Failed' ? (instantOf(state.at) ?? -Infinity) + LEFT_MS : -Infinity;

/** Between two tries: what has failed may need a moment. */
const PAUSE_MS = 30_000;

export const begun = ({ check, attempt }: Asked, now: number): CheckState => ({
  says: check.says,
  attempt,
  since: rfc3339(now),
  tries: 1,
});

const beginsAt = ({ since }: CheckState): number => instantOf(since) ?? 0;
export const endsAt = (state: CheckState, { timeoutMs }: Check): number => beginsAt(state) + timeoutMs;

/** There is a pause before all but the first try. A longer one is none: the clock of the leader that wrote it was ahead. */
export function mayBegin(state: CheckState, now: number): boolean {
  const pauseMs = beginsAt(state) - now;
  return state.tries === 1 || pauseMs <= 0 || pauseMs > PAUSE_MS;
}

/** When time alone changes how it stands, or what is asked. */
export const changesAt = (state: CheckState, check: Check, now: number): number =>
  state.result ? NEVER : nextAfter(now, [beginsAt(state), endsAt(state, check)]);

/** How it stands after an answer. Time alone decides nothing: there may have been no leader to ask. */
export function advanced(
  state: CheckState,
  check: Check,
  { answer, now }: { readonly answer: CheckAnswer | undefined; readonly now: number },
): CheckState {
  if (state.result || !answer) return state;
  const said = { ...state, message: shortened(answer.message, MAX_CHECK_MESSAGE) };
  const means = meaningOf(answer, check);
  if (means === 'passed') return { ...said, result: 'Passed', at: rfc3339(now) };
  return means === 'failed' || answer.isLate ? failed(said, check, now) : said;
}

function meaningOf({ kind, isLate = false }: CheckAnswer, { unknown }: Check): 'passed' | 'failed' | undefined {
  if (kind === 'passed' || kind === 'failed') return kind;
  return kind === 'unknown' || isLate ? MEANING[unknown] : undefined;
}

const MEANING = { Wait: undefined, Fail: 'failed', Pass: 'passed' } as const;

function failed(state: CheckState, { retries }: Check, now: number): CheckState {
  if (state.tries > retries) return { ...state, result: 'Failed', at: rfc3339(now) };
  return { ...state, since: rfc3339(now + PAUSE_MS), tries: state.tries + 1 };
}

/** An entry in the ledger that is about no node: a check of the release itself has failed. */
const ENTRY = 'check ';

export const entryKey = (policy: string, { name }: Pick<Check, 'name'>): string => `${ENTRY}${policy} ${name}`;
export const isCheckEntry = (key: string): boolean => key.startsWith(ENTRY);
/** Of a check that has failed, as it is cleared by people. */
export const attemptOf = ({ attempt, since }: CheckState): string => `${attempt} ${since}`;
