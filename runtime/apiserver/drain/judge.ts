import { noRoomText } from '../../api/shadow/drain.ts';
import type { DrainProgress, DrainRefusal } from '../../api/shadow/model.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { type Cover, coverOf, withEvicted } from '../../drain/cover.ts';
import type { Drain, DrainSettings, Preflight } from '../../drain/drain.ts';
import type { DrainPod } from '../../drain/pod.ts';
import { afterFailed, precheck, preflightOn, refusedSince } from '../../drain/preflight.ts';
import type { Look } from '../../drain/room.ts';
import { GoneError } from '../../kube/errors.ts';
import type { Ports } from '../ports.ts';
import type { NodeSnapshot } from '../rules.ts';
import { noRoom } from './events.ts';
import { lackOfRoom, movingElsewhere } from './room.ts';
import { progressOf, reasonsOf } from './status.ts';

export interface DrainAhead {
  readonly settings: DrainSettings;
  readonly begins: boolean;
  /** When it begins (RFC 3339). */
  readonly since: string;
  /** Those that it evicts at once, and those whose work finishes first. */
  readonly left: readonly DrainPod[];
  readonly finishing: readonly DrainPod[];
  /** Where this attempt has tried to begin it before. */
  readonly begun?: Pick<DrainProgress, 'started_at' | 'blocked_by'> | undefined;
}

/** What the preflight says of a drain that is to begin. */
export interface Judgement {
  readonly progress: DrainProgress;
  /** Why pods of it cannot be evicted as things are, or why it has to wait. */
  readonly reasons: readonly string[];
  /** As it is on this node. */
  readonly preflight: Preflight;
  readonly refused: DrainRefusal | undefined;
  /** What its pods need and is not free elsewhere. */
  readonly lack: string | undefined;
  /** What covers its pods. */
  readonly cover: Cover;
}

/** Undefined for one that has begun. @throws what the transport throws, but for what only would be warned of */
export async function judgeDrain(
  ports: Ports,
  { node, shadow }: NodeSnapshot,
  { settings, since, left, finishing, begun, begins }: DrainAhead,
): Promise<Judgement | undefined> {
  if (!begins) return undefined;
  const now = ports.clock.now();
  const again = afterFailed({ node, shadow }, now + (settings.timeoutMs || Infinity));
  const pods = [...left, ...finishing];
  const { blocked: unevictable, budgets } = await precheck(ports, pods, { ...settings, again });
  const repeats = left.some(({ uid }) => again?.left.has(uid) === true && unevictable.has(uid));
  const refused = refusedSince(shadow, now);
  const preflight = preflightOn(node, { ...settings, refused, repeats, now });
  const lack = await lookForRoom(ports, { node, shadow }, left);
  const reasons = reasonsOf(left, unevictable);
  const progress = { ...progressOf(since, left, unevictable), ...begun };
  const cover = coverOf(pods, budgets);
  // As with budgets: a node that bears our marks already would keep them for as long as it waits.
  if (lack === undefined || !waitsForRoom({ shadow }) || readMarks(node))
    return { progress, reasons, preflight, refused, lack, cover };
  const text = noRoomText(lack);
  return {
    progress: { ...progress, blocked_by: [text, ...progress.blocked_by] },
    reasons: [text, ...reasons],
    preflight: 'refuse',
    // How long a lack of room lasts says nothing of budgets.
    refused: preflight === 'refuse' && reasons.length > 0 ? refused : undefined,
    lack,
    cover,
  };
}

/** What covers the pods of its drain, and is to stand in its status. */
export function coverIn({ status }: NodeSnapshot['shadow'], judged: Judgement | undefined): Cover {
  const known = status?.displaced?.budgets ?? [];
  return judged ? withEvicted(judged.cover, known) : known;
}

/** Its policy wants it so. */
export const waitsForRoom = ({ shadow }: Pick<NodeSnapshot, 'shadow'>): boolean => shadow.spec.capacity === 'wait';

/** Where it only warns, a drain goes on without a look that fails, or does not come to an end. One that waits looks on the next time. */
async function lookForRoom(
  ports: Ports,
  { node, shadow }: NodeSnapshot,
  left: readonly DrainPod[],
): Promise<string | undefined> {
  const { name } = node.metadata;
  if (waitsForRoom({ shadow })) return lookOn(ports, name, left);
  try {
    const lack = await lackOfRoom(ports, { nodeName: name, pods: left });
    return lack?.next === undefined ? lack?.text : undefined;
  } catch (error) {
    ports.logger.warn('room for the pods of a drain not looked for', { node: name, error });
    return undefined;
  }
}

async function lookOn(ports: Ports, name: string, left: readonly DrainPod[]): Promise<string | undefined> {
  const look = (last?: Look) =>
    lackOfRoom(ports, { nodeName: name, pods: left, ahead: () => movingElsewhere(ports, name), last });
  const lack = await look(ports.looks.get(name)).catch((error: unknown) => {
    if (error instanceof GoneError) return look();
    throw error;
  });
  ports.looks.set(name, lack?.next);
  return lack?.text;
}

/** Tells, when a drain begins, that some of its pods may find no place. */
export function tellNoRoom(
  { events, metrics, logger }: Ports,
  { node, id }: Pick<Drain, 'node' | 'id'>,
  lack: string | undefined,
): void {
  if (lack === undefined) return;
  metrics.drainsWithoutRoom.inc({ result: 'begun' });
  void events.record(node, noRoom(lack));
  logger.warn('no room for the pods of a drain', { node: node.metadata.name, drain: id, lack });
}
