import { MAX_CHECK_MESSAGE, type CheckState } from '../../../api/release/model.ts';
import type { Check } from '../../../api/policy/checks.ts';
import { HOUR_MS, instantOf, rfc3339 } from '../../../lib/clock.ts';
import { shortened } from '../../../lib/parts.ts';
import { NEVER, nextAfter } from './requeue.ts';

/** A check as it goes from try to try. What is known of it stands in the ledger of its release; the answers alone come from outside. */

/** What was answered to a try. There is none while a Job runs. */
export interface CheckAnswer {
  readonly kind: 'passed' | 'failed' | 'unknown';
  /** The same for as long as the answer is: it is written to the cluster. */
  readonly message: string;
}

/** By the name of the try. */
export type CheckAnswers = ReadonlyMap<string, CheckAnswer>;

/** A try that is to be made. */
export interface CheckTry {
  /** Names the try and no other: every process gives it the same. */
  readonly id: string;
  readonly check: Check;
  readonly about: CheckSubject;
  /** What has no answer by then has failed, milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

export interface CheckSubject {
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
}

/** The first check of a node that has not passed; undefined where all have. */
export function openCheck(
  states: CheckStates,
  { uid, when, checks, attempt }: OfNode,
): { readonly key: string; readonly check: Check; readonly state: CheckState | undefined } | undefined {
  for (const check of checks) {
    const key = nodeKey(uid, when, check);
    const state = standing(states, key, { check, attempt });
    if (state?.result !== 'Passed') return { key, check, state };
  }
  return undefined;
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

export const beginsAt = ({ since }: CheckState): number => instantOf(since) ?? 0;
export const endsAt = (state: CheckState, { timeoutMs }: Check): number => beginsAt(state) + timeoutMs;

/** When time alone changes how it stands, or what is asked. */
export const changesAt = (state: CheckState, check: Check, now: number): number =>
  state.result ? NEVER : nextAfter(now, [beginsAt(state), endsAt(state, check)]);

/** How it stands after an answer, or without one. */
export function advanced(
  state: CheckState,
  check: Check,
  { answer, now }: { readonly answer: CheckAnswer | undefined; readonly now: number },
): CheckState {
  if (state.result) return state;
  const isLate = endsAt(state, check) <= now;
  if (!answer) return isLate ? failed({ ...state, message: 'it was not done in time' }, check, now) : state;
  const said = { ...state, message: shortened(answer.message, MAX_CHECK_MESSAGE) };
  const means = answer.kind === 'unknown' ? MEANING[check.unknown] : answer.kind;
  if (means === 'passed') return { ...said, result: 'Passed', at: rfc3339(now) };
  return means === 'failed' || isLate ? failed(said, check, now) : said;
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
