import { isDeepStrictEqual } from 'node:util';
import { listAll, listWhole } from '../../kube/collection.ts';
import type { ShadowObject } from '../../api/resources.ts';
import type { Node } from '../../kube/objects.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { joinParts } from '../../lib/parts.ts';
import { randomId } from '../../lib/random.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { cordonPatch, drainOn, type NodePatch } from '../../api/marks/patches.ts';
import type { DrainProgress, DrainRefusal, Status } from '../../api/shadow/model.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Ports } from '../ports.ts';
import { notAllowed, RefusedError } from '../refusal.ts';
import { isOfRoom, refusalsIn } from '../../api/shadow/drain.ts';
import { isOld, stamped, tellRefusal, tellRefusedReport } from '../refused-writes.ts';
import { type NodeSnapshot, whyNotDrain } from '../rules.ts';
import { retryOnConflict, takeSnapshot } from '../snapshot.ts';
import { type Blocked, type Drain, type DrainSettings, letFinish, termsOf } from '../../drain/drain.ts';
import { displacedBy } from './displaced.ts';
import { letting, startOf, waitOn } from './let-finish.ts';
import { drainBlocked, drainFailed, noRoom } from './events.ts';
import { filterPods, keepOwnUnlessReschedulable, type PodDeleteList, podsLeft } from '../../drain/filter.ts';
import { type DrainPod, podsOn } from '../../drain/pod.ts';
import { afterFailed } from '../../drain/preflight.ts';
import { otherNodeTakesPods } from '../../drain/reschedule.ts';
import { endOfEvidence, type EvidencePatch } from './evidence.ts';
import { coverIn, type Judgement, judgeDrain, tellNoRoom, waitsForRoom } from './judge.ts';
import { isSame, progressOf, waitOf } from './status.ts';
import { tellLastBackends, tellMayTimeOut, tellStuck } from './warnings.ts';

/** Who asks for a drain. */
export interface DrainCall {
  readonly agent: VerifiedAgent;
  readonly settings: DrainSettings;
  /** The drain that the caller takes part in already, as it knows it from the runs that it has waited for. */
  readonly joined?: Joined | undefined;
}

export interface Joined extends Pick<Drain, 'id' | 'blocked'> {
  /** As the run has seen it last, where its drain is to be proven now: that is a write with its version. @default it is read */
  readonly node?: Node | undefined;
}

/**
 * Cordons the node for a drain, if one is allowed. It writes the shadow's status first, and then marks and cordon on the node, each with
 * the resourceVersion that it has read. If somebody changed either in between, it starts again. So a caller that slept cannot cordon by
 * what was true long ago.
 * @throws RefusedError 409 where the update's state, or the preflight, does not allow a drain, 503 where the caller's drain is over
 */
export function cordonForDrain(ports: Ports, call: DrainCall): Promise<Drain> {
  return retryOnConflict(async () => {
    const look = await lookAt(ports, call);
    const { shadow, drain, begins, cordon } = look;
    if (begins) {
      expectInTime(ports, { node: drain.node, shadow }, call.settings);
      await expectEvictable(ports, look);
      tellNoRoom(ports, drain, look.judged?.lack);
      tellMayTimeOut(ports, drain, call.settings);
      tellStuck(ports, drain);
    }
    if (!cordon) return joining(ports, look, call.agent);
    const beginning = begins && { ...endOfEarlier(look), displaced: await displacedBy(ports, drain, shadow) };
    const more = { ...endOfProbe(call.agent, shadow), ...beginning };
    const told = await writeProgress(ports, look, more);
    const node = await writeCordon(ports, told, cordon);
    if (begins) {
      void ports.events.record(node, startOf(drain));
      void tellLastBackends(ports, drain);
    }
    // Pods that are left are waited for, and looked at again. That none is left counts only once it was read under the cordon.
    const isLeft = podsLeft(drain.list).length > 0;
    return { ...told, node, list: isLeft ? drain.list : await listToDrain(ports, drain, call) };
  });
}

/**
 * Joins the drain that has cordoned the node already. Where its progress is refused the drain goes on, because that is only a report, unless the
 * record of a reboot has to change in the same write.
 */
async function joining(ports: Ports, look: Look, agent: VerifiedAgent): Promise<Drain> {
  const { drain, shadow } = look;
  const probe = endOfProbe(agent, shadow);
  if (isSame(shadow.status?.drain, drain.progress) && probe.reboot === undefined) return drain;
  try {
    return await writeProgress(ports, look, probe);
  } catch (error) {
    if (probe.reboot !== undefined || !tellRefusedReport(ports, drain.node, error)) throw error;
    return drain;
  }
}

/** Tells people of a refusal, and throws it: the agent asks again. */
async function writeCordon(ports: Ports, drain: Drain, cordon: NodePatch): Promise<Node> {
  try {
    return await ports.nodes.patch(drain.node.metadata.name, { ...cordon });
  } catch (error) {
    await tellRefusal(ports, { ...drain, write: 'cordon' }, error);
    throw error;
  }
}

/**
 * Throws where the writes before the drain have been refused for as long as the whole drain may take: the attempt is over, so the node is left alone.
 * @throws RefusedError 504
 */
export function expectInTime(
  { clock, events, metrics }: Pick<Ports, 'clock' | 'events' | 'metrics'>,
  snapshot: NodeSnapshot,
  { timeoutMs }: Pick<DrainSettings, 'timeoutMs'>,
): void {
  const begun = refusedBefore(snapshot);
  if (!begun || timeoutMs === 0 || clock.now() < Date.parse(begun.started_at) + timeoutMs) return;
  const message = `the drain did not begin within ${timeoutMs / 1000} s; ${joinParts(begun.blocked_by)}`;
  metrics.drains.inc({ result: 'timeout' });
  void events.record(snapshot.node, drainFailed(message));
  throw new RefusedError(504, 'DrainTimeout', message);
}

/** The progress of a drain that has yet to begin. */
export const progressAhead = async (ports: Ports, call: DrainCall): Promise<DrainProgress> =>
  (await lookAt(ports, call)).drain.progress;

/**
 * Throws where the preflight would refuse a drain now. A change to the node that precedes the drain would otherwise last as long as the refusal.
 * @throws RefusedError 409, as `cordonForDrain` does
 */
export async function expectDrainable(ports: Ports, call: DrainCall, snapshot: NodeSnapshot): Promise<void> {
  const mayRefuse = call.settings.preflight === 'refuse' || waitsForRoom(snapshot);
  if (!mayRefuse && !afterFailed(snapshot, Infinity)) return;
  const look = await lookAt(ports, call, snapshot);
  if (look.judged?.preflight === 'refuse') await expectEvictable(ports, look);
}

/** What a drain is decided on before anything is written. */
interface Look {
  readonly shadow: ShadowObject;
  /** With the `progress` that is to be written. */
  readonly drain: Drain;
  /** Whether this call begins it. */
  readonly begins: boolean;
  /** Cordons the node; undefined where this drain has done so already. */
  readonly cordon: NodePatch | undefined;
  /** What the preflight says, where it begins. */
  readonly judged: Judgement | undefined;
}

/** Reads everything, but for a snapshot that was taken just now, and writes nothing. */
async function lookAt(ports: Ports, { agent, settings, joined }: DrainCall, given?: NodeSnapshot): Promise<Look> {
  const { id: own, blocked, node: watched } = joined ?? {};
  const { node, shadow } = given ?? (await takeSnapshot(ports, agent, watched));
  const why = whyNotDrain({ node, shadow });
  if (why !== undefined) throw notAllowed(`no drain: ${why}`);
  const seen = await listWhole(ports.transport, podsOn(agent.nodeName));
  const pods = seen.items;
  const begun = refusedBefore({ node, shadow });
  const { started_at: now = rfc3339(ports.clock.now()) } = begun ?? {};
  const attempt = { id: randomId(ports.random), now, boot: agent.bootId, newestPod: newestCreation(node, pods) };
  const { id, since, newestPod = since } = drainOn(node, attempt);
  if (own !== undefined && own !== id) throw superseded();
  const begins = id === attempt.id;
  const marked = { node, id, since, lateAfter: Date.parse(newestPod), blocked };
  const list = await listToDrain(ports, marked, { settings, pods });
  const left = podsLeft(list);
  const wait = waitOn({ node, shadow }, list, now);
  const finishing = letFinish(list, wait);
  const ahead = { settings, since, left: left.filter((pod) => !finishing.includes(pod)), finishing, begun, begins };
  const judged = await judgeDrain(ports, { node, shadow }, ahead);
  const stated = judged ? { ...judged.progress, pods_left: left.length } : laterProgress(shadow, marked, left);
  const progress = { ...stated, ...waitOf({ list, wait }) };
  const shown = { progress, cover: coverIn(shadow, judged), shadowVersion: shadow.metadata.resourceVersion };
  const drain = { ...marked, ...shown, seen, list, wait };
  return { shadow, drain, begins, cordon: cordonPatch(node, letting(attempt, wait)), judged };
}

const NONE: Blocked = new Map();

/** The drain that this attempt has tried to begin, where the mark on the Node was refused. Its deadline counts from the first try. */
function refusedBefore({ node, shadow }: NodeSnapshot): Pick<DrainProgress, 'started_at' | 'blocked_by'> | undefined {
  const { started_at, blocked_by = [] } = shadow.status?.drain ?? {};
  const isRefused = readMarks(node)?.since == null && refusalsIn(blocked_by).length > 0;
  return started_at !== undefined && isRefused ? { started_at, blocked_by } : undefined;
}

/** RFC 3339. A node is older than its pods, so its own time is used where it has no pods. */
function newestCreation({ metadata }: Node, pods: readonly DrainPod[]): string | undefined {
  const times = [instantOf(metadata.creationTimestamp), ...pods.map(({ created }) => created)];
  const newest = Math.max(...times.filter((time) => time !== undefined));
  return Number.isFinite(newest) ? rfc3339(newest) : undefined;
}

/** @param pods of the node; read now where they are left out */
async function listToDrain(
  { transport, namespace, clock }: Ports,
  drain: Pick<Drain, 'node' | 'lateAfter'>,
  { settings, pods }: { readonly settings: DrainSettings; readonly pods?: readonly DrainPod[] },
): Promise<PodDeleteList> {
  const { name } = drain.node.metadata;
  const listed = pods ?? (await listAll(transport, podsOn(name)));
  const list = filterPods(listed, termsOf(drain, { ...settings, namespace, now: clock.now() }));
  return keepOwnUnlessReschedulable(list, () => otherNodeTakesPods(transport, name));
}

/** While pods are left, a replica that has not worked on the drain keeps what a working replica has written. */
function laterProgress(
  { status }: ShadowObject,
  { since, blocked }: Pick<Drain, 'since' | 'blocked'>,
  left: readonly DrainPod[],
): DrainProgress {
  const stated = status?.drain;
  if (stated?.started_at !== since) return progressOf(since, left, blocked ?? NONE);
  // A refusal of the proof stays told until the proof is written.
  if (left.length === 0) return { ...stated, pods_left: 0, blocked_by: refusalsIn(stated.blocked_by) };
  return blocked === undefined ? stated : progressOf(since, left, blocked);
}

interface StatusPatch extends EvidencePatch {
  readonly reboot?: null;
  readonly drain_refused?: DrainRefusal | null;
  readonly drain_failed?: null;
  readonly no_room?: string | null;
  readonly displaced?: Status['displaced'];
}

/**
 * Writes with the resourceVersion that was read. The same progress keeps its time for a while: each change of the shadow wakes its agent, and an
 * agent that is refused would ask again at once.
 * @returns the drain as it stands then
 */
async function writeProgress(
  { shadows, clock }: Ports,
  { shadow: { metadata, status }, drain }: Look,
  more: StatusPatch = {},
): Promise<Drain> {
  const { name, resourceVersion } = metadata;
  const now = clock.now();
  const said = status?.drain;
  const progress = said && isSame(said, drain.progress) && !isOld(said, now) ? said : stamped(drain.progress, now);
  const patch = { metadata: { resourceVersion }, status: { drain: progress, ...more } };
  const { metadata: written } = await shadows.patchStatus(name, patch);
  return { ...drain, progress, shadowVersion: written.resourceVersion };
}

/**
 * Takes away the probe of a newer agent where an older one drains. An older agent does not say in which boot it runs, and keeps no record of
 * reboots. So the probe would go on saying that nobody has asked for a reboot, even after the older agent has.
 */
function endOfProbe(agent: VerifiedAgent, { status }: ShadowObject): { readonly reboot?: null } {
  const reboot = status?.reboot;
  return agent.bootId === null && reboot != null && reboot.requested_at == null ? { reboot: null } : {};
}

/** A drain that begins clears what the status says of earlier ones that were refused or failed, or had no room. */
function endOfEarlier({ shadow: { status }, drain, judged }: Look): Omit<StatusPatch, 'reboot'> {
  const lack = judged?.lack;
  return {
    ...endOfEvidence(drain, status),
    ...(lack !== (status?.no_room ?? undefined) && { no_room: lack ?? null }),
    ...(status?.drain_refused != null && { drain_refused: null }),
    ...(status?.drain_failed != null && { drain_failed: null }),
  };
}

/**
 * Tells what will keep a drain from ending, when it begins or is refused. An agent that is refused asks again and again: the status is
 * written only where it has changed, or was said a while ago.
 * @throws RefusedError 409 where the preflight refuses
 */
async function expectEvictable(ports: Ports, look: Look): Promise<void> {
  const { drain, judged } = look;
  if (!judged || judged.reasons.length === 0) return;
  const { node, id, progress } = drain;
  const { preflight, refused, reasons, lack = '' } = judged;
  const { blocked_by } = progress;
  const isOfRoomAlone = isOfRoom(blocked_by);
  void ports.events.record(node, isOfRoomAlone ? noRoom(lack, 'waits') : drainBlocked(preflight, progress));
  if (preflight === 'warn') {
    ports.logger.warn('drain blocked', { node: node.metadata.name, drain: id, blocked_by });
    return;
  }
  if (!isTold(look, judged, ports.clock.now())) {
    if (isOfRoomAlone) ports.metrics.drainsWithoutRoom.inc({ result: 'waiting' });
    await writeProgress(ports, look, refused && { drain_refused: refused });
  }
  throw new RefusedError(409, 'Undrainable', `no drain: it could not end, because of ${joinParts(reasons)}`);
}

/** What is free changes with each pod of the cluster, and each write would wake the agent: that some is lacking is said once in a while. */
function isTold({ shadow: { status }, drain: { progress } }: Look, { refused }: Judgement, now: number): boolean {
  const { drain: said, drain_refused: known } = status ?? {};
  if (said == null || isOld(said, now)) return false;
  const isSaid = isOfRoom(progress.blocked_by)
    ? isOfRoom(said.blocked_by)
    : isDeepStrictEqual(said.blocked_by, progress.blocked_by);
  return isSaid && (refused === undefined || isDeepStrictEqual(known, refused));
}

/** 503: the marks are gone or another drain's, so this drain is over. The agent reads its shadow again and asks again. */
export function superseded(): RefusedError {
  return new RefusedError(503, 'Superseded', 'the drain was superseded or its marks were released; ask again');
}
