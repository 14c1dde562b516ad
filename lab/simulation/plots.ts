import { ofDrains, ofMarks } from './plots/drains.ts';
import { ofFailures, ofHosts, ofLedgers, ofLocks } from './plots/hosts.ts';
import { ofArrivals, ofDecisions, ofGates } from './plots/people.ts';
import { ofLists, ofPermits, ofSteps } from './plots/permits.ts';
import { type Plot, plotOf } from './plots/scene.ts';

export type { Plot } from './plots/scene.ts';

/** What a storm may be about. After what sequences have broken such protocols: these are drawn more often than chance would have them. */
export const TOPICS = {
  permits: ofPermits.map(plotOf),
  lists: ofLists.map(plotOf),
  steps: ofSteps.map(plotOf),
  drains: ofDrains.map(plotOf),
  marks: ofMarks.map(plotOf),
  hosts: ofHosts.map(plotOf),
  failures: ofFailures.map(plotOf),
  ledgers: ofLedgers.map(plotOf),
  gates: ofGates.map(plotOf),
  arrivals: ofArrivals.map(plotOf),
  locks: ofLocks.map(plotOf),
} as const satisfies Readonly<Record<string, readonly Plot[]>>;

export type Topic = keyof typeof TOPICS;

export const PLOTS: readonly Plot[] = Object.values(TOPICS).flat();

export const DECISIONS: readonly Plot[] = ofDecisions.map(plotOf);
