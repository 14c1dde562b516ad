import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { BEGINS_AT } from '../types.ts';
import { at, list, text } from './facts.ts';

export type ReleaseFacts = Readonly<ReturnType<typeof releaseFacts>>;

/** What the resource of a release says. @param last what it said before, where it was there */
export function releaseFacts(
  release: KubeObject,
  last: { readonly haltedWhere: string; readonly decidedAt: number } | undefined,
  now: number,
) {
  const family = text(at(release, 'spec', 'family'));
  const rolledBack = list(at(release, 'spec', 'rollbackFor')).map(String);
  const isHalted = at(release, 'spec', 'decision') === 'Halt' || rolledBack.includes('*');
  const haltedWhere = isHalted ? '*' : rolledBack.join();
  return {
    version: text(at(release, 'spec', 'version')) ?? '',
    isOf: (other: string) => family === '*' || family === other,
    /** Nodes that have failed on it. */
    failures: Object.keys(at(release, 'status', 'failures') ?? {}).length,
    halted: (policy: string) => isHalted || rolledBack.includes(policy),
    /** Where people forbid it, as a text, and since when that stands. */
    haltedWhere,
    decidedAt: last?.haltedWhere === haltedWhere ? last.decidedAt : now,
    /** Names of the policies under which it was approved. */
    approvedFor: list(at(release, 'spec', 'approvedFor')).map(String),
    /** Since when it is offered, as the controllers have it; NaN where they say nothing. */
    offeredAt: Date.parse(text(at(release, 'status', 'firstOfferedAt')) ?? '') - BEGINS_AT,
  };
}
