import { shortHash } from '../../lib/hash.ts';
import { durationMs } from './duration.ts';
import type { PolicySpec } from './spec.ts';

/** What a policy asks besides what nodes say themselves. Durations are milliseconds. */

interface CheckTerms {
  /** No other check of the same list has it. */
  readonly name: string;
  /** How long one try may take. */
  readonly timeoutMs: number;
  /** Tries after the first one that has failed. */
  readonly retries: number;
  /** What it means that nobody can say: it is asked again until the time is over, and has failed then, or it has an answer by that. */
  readonly unknown: 'Wait' | 'Fail' | 'Pass';
  /** What the policy says of it. Where that changes, it is another check. */
  readonly says: string;
}

/** A suspended CronJob in the operator's namespace, of which a Job is made. */
export interface JobCheck extends CheckTerms {
  readonly kind: 'job';
  readonly cronJob: string;
}

/** A PromQL query: each value that it gives has to be within the bounds. */
export interface QueryCheck extends CheckTerms {
  readonly kind: 'query';
  readonly query: string;
  readonly above: number | undefined;
  readonly below: number | undefined;
}

/** A condition in the status of any object. */
export interface ConditionCheck extends CheckTerms {
  readonly kind: 'condition';
  readonly apiVersion: string;
  readonly objectKind: string;
  /** Undefined for an object without one. */
  readonly namespace: string | undefined;
  readonly objectName: string;
  readonly type: string;
  readonly status: string;
}

export type Check = JobCheck | QueryCheck | ConditionCheck;

/** By when they are asked. */
export interface Checks {
  /** Of a release, once enough nodes have been well on it for long enough: before it is proven. */
  readonly proof: readonly Check[];
  /** Of a node, before its drain. */
  readonly before: readonly Check[];
  /** Of a node that is back from its update and Ready. */
  readonly after: readonly Check[];
}

export const NO_CHECKS: Checks = { proof: [], before: [], after: [] };

/** What is written down of all of them, as a text: it is another where any of them is. */
export const checksText = (checks: readonly Check[]): string =>
  checks.map(({ name, says }) => `${name} (${says})`).join(', ');

type CheckSpec = NonNullable<NonNullable<PolicySpec['proof']>['checks']>[number];

const TIMEOUT = '10m';

/** @param spec valid */
export function checkOf(spec: CheckSpec): Check {
  const { name, timeout = TIMEOUT, retries = 0, unknown = 'Wait', job, query = '', above, below, condition } = spec;
  const terms = { name, timeoutMs: durationMs(timeout) ?? 0, retries, unknown, says: shortHash(JSON.stringify(spec)) };
  if (job !== undefined) return { ...terms, kind: 'job', cronJob: job };
  if (!condition) return { ...terms, kind: 'query', query, above, below };
  const { apiVersion, kind: objectKind, namespace, name: objectName, type, status = 'True' } = condition;
  return { ...terms, kind: 'condition', apiVersion, objectKind, namespace, objectName, type, status };
}
