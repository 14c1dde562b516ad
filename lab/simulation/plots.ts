import { ofDrains, ofMarks } from './plots/drains.ts';
import { ofFailures, ofHosts, ofLocks } from './plots/hosts.ts';
import { ofArrivals, ofGates } from './plots/people.ts';
import type { Plot } from './plots/scene.ts';
import { ofPermits, ofSteps } from './plots/permits.ts';

export { DECISIONS } from './plots/people.ts';
export type { Plot } from './plots/scene.ts';

/** What a storm may be about. After what sequences have broken such protocols: these are drawn more often than chance would have them. */
export const TOPICS = {
  permits: ofPermits,
  steps: ofSteps,
  drains: ofDrains,
  marks: ofMarks,
  hosts: ofHosts,
  failures: ofFailures,
  gates: ofGates,
  arrivals: ofArrivals,
  locks: ofLocks,
} as const satisfies Readonly<Record<string, readonly Plot[]>>;

export type Topic = keyof typeof TOPICS;

export const PLOTS: readonly Plot[] = Object.values(TOPICS).flat();
