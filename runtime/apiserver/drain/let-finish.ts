import { readMarks } from '../../api/marks/marks.ts';
import { letFinishIn } from '../../api/shadow/let-finish.ts';
import { evictingPatch } from '../../api/marks/patches.ts';
import { ConflictError } from '../../kube/errors.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { type Drain, letFinish, type Wait } from '../../drain/drain.ts';
import { type PodDeleteList, podsLeft } from '../../drain/filter.ts';
import type { NodeEvent, Ports } from '../ports.ts';
import type { NodeSnapshot } from '../rules.ts';
import { drainStarted, drainWaits } from './events.ts';

/**
 * Whose work is let finish on the node: by its marks for as long as a drain does so, in whichever boot, and else as the controller says, where there is
 * any. A drain that has begun to evict does not stop for anybody's. @param now RFC 3339
 */
export function waitOn({ node, shadow }: NodeSnapshot, list: PodDeleteList, now: string): Wait | undefined {
  const said = letFinishIn(shadow.metadata.annotations);
  const { since, waitsUntil } = readMarks(node) ?? {};
  const terms = { pods: said?.pods, doNotDisrupt: said?.doNotDisrupt === true };
  if (waitsUntil !== undefined) return { ...terms, until: waitsUntil };
  if (since != null || !said || letFinish(list, terms).length === 0) return undefined;
  return { ...terms, until: rfc3339(Date.parse(now) + said.upToMs) };
}

/** The attempt of a drain that lets work finish, if it does. */
export const letting = <T extends object>(attempt: T, wait: Wait | undefined) => ({
  ...attempt,
  waitsUntil: wait?.until,
});

/** What people are told of a drain that has cordoned its node. */
export function startOf({ list, wait, progress }: Drain): NodeEvent {
  return wait ? drainWaits(letFinish(list, wait), wait.until) : drainStarted(progress.pods_left);
}

/** Ends the time in which the drain lets work finish. Where somebody has changed the Node since, it is looked at again. */
export async function beginEvicting({ nodes, clock, events }: Ports, { node, id, list }: Drain): Promise<void> {
  const patch = evictingPatch(node, id, rfc3339(clock.now()));
  if (!patch) return;
  try {
    await nodes.patch(node.metadata.name, { ...patch });
    void events.record(node, drainStarted(podsLeft(list).length));
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}
