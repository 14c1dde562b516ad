import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { BEGINS_AT } from '../types.ts';
import { at, list, text } from './facts.ts';

/** What the resource of a release says. */
export interface ReleaseFacts {
  readonly version: string;
  readonly isOf: (family: string) => boolean;
  /** Nodes that have failed on it. */
  readonly failures: number;
  /** Whether people forbid it, and since when that stands. */
  readonly halted: (policy: string) => boolean;
  /** Where they do, as a text. */
  readonly haltedWhere: string;
  readonly decidedAt: number;
  /** Names of the policies under which it was approved. */
  readonly approvedFor: readonly string[];
  /** Since when it is offered, as the controllers have it; NaN where they say nothing. */
  readonly offeredAt: number;
}

export function releaseFacts(release: KubeObject, last: ReleaseFacts | undefined, now: number): ReleaseFacts {
  const family = text(at(release, 'spec', 'family'));
  const rolledBack = list(at(release, 'spec', 'rollbackFor')).map(String);
  const isHalted = at(release, 'spec', 'decision') === 'Halt' || rolledBack.includes('*');
  const haltedWhere = isHalted ? '*' : rolledBack.join();
  return {
    version: text(at(release, 'spec', 'version')) ?? '',
    isOf: (other) => family === '*' || family === other,
    failures: Object.keys(at(release, 'status', 'failures') ?? {}).length,
    halted: (policy) => isHalted || rolledBack.includes(policy),
    haltedWhere,
    decidedAt: last?.haltedWhere === haltedWhere ? last.decidedAt : now,
    approvedFor: list(at(release, 'spec', 'approvedFor')).map(String),
    offeredAt: Date.parse(text(at(release, 'status', 'firstOfferedAt')) ?? '') - BEGINS_AT,
  };
}
