import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/objects.ts';
import { keyOf } from '../../kube/reflector.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { joinParts } from '../../lib/parts.ts';
import { randomId } from '../../lib/random.ts';
import { type Attempt, cordonPatch, drainOn } from '../../marks/patches.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Preflight } from '../config.ts';
import type { Ports } from '../ports.ts';
import { notAllowed, RefusedError } from '../refusal.ts';
import { type NodeSnapshot, whyNotDrain } from '../rules.ts';
import { retryOnConflict, takeSnapshot } from '../snapshot.ts';
import { type Blocked, filterListed, listPodsOn, type PodDeleteList, podsLeft } from './filter.ts';
import { outlasting, precheck, preflightOn } from './preflight.ts';
import { drainBlocked, drainMayTimeOut, progressOf, type ReportedDrain, reasonsOf } from './status.ts';

/** What the marks on a node say of its drain. */
interface DrainIdentity {
  readonly id: string;
  /** When the drain began (RFC 3339). */
  readonly since: string;
  /** Pods that were created after this (RFC 3339) came after the cordon. */
  readonly lateAfter: string;
  /** Whether this call began the drain. */
  readonly begun: boolean;
}

/** A node that may be drained and is cordoned for it. */
export interface CordonedNode extends DrainIdentity, ReportedDrain {
  /** The pods of the node, read after it was seen cordoned; undefined where this call cordoned it. */
  readonly pods: PodDeleteList | undefined;
}

export interface CordonRequest {
  readonly agent: VerifiedAgent;
  /** Identity of the drain that the caller takes part in already; undefined = any. */
  readonly id?: string | undefined;
  /** Why pods were not evicted in the run that the caller has waited for; undefined before the first run. */
  readonly blocked?: Blocked | undefined;
  /** What to do with a new drain that could not end as things are. */
  readonly preflight: Preflight;
  /** How long a drain may take, milliseconds; 0 = for ever. */
  readonly timeoutMs: number;
}

/**
 * Cordons the node for a drain, if one is allowed. It writes the shadow's status first, and then marks and cordon on the node, each with
 * the resourceVersion that it has read. If somebody changed either in between, it starts again. So a caller that slept cannot cordon by
 * what was true long ago.
 * @throws RefusedError 409 where the update's state, or the preflight, does not allow a drain, 503 where the caller's drain is over
 */
export function cordonForDrain(ports: Ports, request: CordonRequest): Promise<CordonedNode> {
  return retryOnConflict(async () => {
    const considered = await consider(ports, request);
    const { snapshot, attempt, drain, pods, progress, refusal } = considered;
    if (refusal) return refuse(ports, considered, refusal);
    if (drain.begun) {
      tellBlocked(ports, considered);
      tellMayTimeOut(ports, considered);
    }
    const shadowVersion = await writeProgress(ports, considered, endOfProbe(considered));
    const patch = cordonPatch(snapshot.node, attempt);
    const node = patch ? await ports.nodes.patch(snapshot.node.metadata.name, { ...patch }) : snapshot.node;
    return { ...drain, node, progress, shadowVersion, pods: patch ? undefined : pods };
  });
}

/**
 * Throws where the preflight would refuse a drain now. What is done to a node before such a drain would last as long as the refusal.
 * @throws RefusedError 409, as `cordonForDrain` does
 */
export function expectDrainable(ports: Ports, request: CordonRequest): Promise<void> {
  return retryOnConflict(async () => {
    const considered = await consider(ports, request);
    if (considered.refusal) await refuse(ports, considered, considered.refusal);
  });
}

interface Considered {
  /** With the preflight as it is on this node. */
  readonly request: CordonRequest;
  readonly snapshot: NodeSnapshot;
  readonly attempt: Attempt;
  readonly drain: DrainIdentity;
  readonly pods: PodDeleteList;
  /** The new `status.drain`. */
  readonly progress: DrainProgress;
  /** Undefined where the drain may begin, or go on. */
  readonly refusal: RefusedError | undefined;
}

/** Reads everything and writes nothing. */
async function consider(ports: Ports, asked: CordonRequest): Promise<Considered> {
  const { agent } = asked;
  const snapshot = await takeSnapshot(ports, agent);
  const why = whyNotDrain(snapshot);
  if (why !== undefined) throw notAllowed(`no drain: ${why}`);
  const request = { ...asked, preflight: preflightOn(snapshot.node, asked.preflight) };
  const listed = await listPodsOn(ports, agent.nodeName);
  const newestPod = newestCreation([snapshot.node, ...listed]);
  const attempt = { id: randomId(ports.random), now: rfc3339(ports.clock.now()), boot: agent.bootId, newestPod };
  const drain = joined(snapshot, attempt, request);
  const pods = await filterListed(ports, listed, { nodeName: agent.nodeName, lateAfter: drain.lateAfter });
  const looked = { request, snapshot, attempt, drain, pods };
  if (!drain.begun) return { ...looked, progress: laterProgress(looked), refusal: undefined };
  const left = podsLeft(pods);
  const blocked = await precheck(ports, left, request.preflight);
  const progress = progressOf(drain.since, left, blocked);
  return { ...looked, progress, refusal: undrainable(request.preflight, reasonsOf(left, blocked)) };
}

/** RFC 3339. A node is older than its pods, so its own time is used where it has no pods. */
function newestCreation(objects: readonly KubeObject[]): string | undefined {
  const times = objects.flatMap(({ metadata }) => metadata.creationTimestamp ?? []);
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}

function joined({ node }: NodeSnapshot, attempt: Attempt, { id: own }: CordonRequest): DrainIdentity {
  const { id, since, newestPod: lateAfter = since } = drainOn(node, attempt);
  if (own !== undefined && own !== id) throw superseded();
  return { id, since, lateAfter, begun: id === attempt.id };
}

/** While pods are left, a replica that has not worked on the drain keeps what a working replica has written. */
function laterProgress({ request, snapshot, drain, pods }: Omit<Considered, 'progress' | 'refusal'>): DrainProgress {
  const left = podsLeft(pods);
  const stated = snapshot.shadow.status?.drain;
  const isKnown = left.length === 0 || request.blocked !== undefined || stated?.started_at !== drain.since;
  return isKnown ? progressOf(drain.since, left, request.blocked ?? new Map()) : stated;
}

function undrainable(preflight: Preflight, reasons: readonly string[]): RefusedError | undefined {
  if (preflight === 'warn' || reasons.length === 0) return undefined;
  return new RefusedError(409, 'Undrainable', `no drain: it could not end, because of ${joinParts(reasons)}`);
}

/** Writes with the resourceVersion that was read. @returns the resourceVersion after the write */
async function writeProgress(
  { shadows }: Ports,
  { snapshot, progress }: Considered,
  more: { readonly reboot?: null } = {},
): Promise<string> {
  const { name, resourceVersion } = snapshot.shadow.metadata;
  const patch = { metadata: { resourceVersion }, status: { drain: progress, ...more } };
  return (await shadows.patchStatus(name, patch)).metadata.resourceVersion;
}

/**
 * Takes away the probe of a newer agent where an older one drains. An older agent does not say in which boot it runs, and keeps no record of
 * reboots. So the probe would go on saying that nobody has asked for a reboot, even after the older agent has.
 */
function endOfProbe({ request: { agent }, snapshot: { shadow } }: Considered): { readonly reboot?: null } {
  const reboot = shadow.status?.reboot;
  return agent.bootId === null && reboot != null && reboot.requested_at == null ? { reboot: null } : {};
}

/** An agent that is refused asks again and again. The status is written only where it has changed. */
async function refuse(ports: Ports, considered: Considered, refusal: RefusedError): Promise<never> {
  const { snapshot, progress } = considered;
  tellBlocked(ports, considered);
  const stated = snapshot.shadow.status?.drain?.blocked_by;
  if (!isDeepStrictEqual(stated, progress.blocked_by)) await writeProgress(ports, considered);
  throw refusal;
}

/** Tells what will keep a drain from ending, when it begins or is refused. */
function tellBlocked(ports: Ports, { request: { preflight }, snapshot: { node }, drain, progress }: Considered): void {
  if (progress.blocked_by.length === 0) return;
  void ports.events.record(node, drainBlocked(preflight, progress));
  const fields = { node: node.metadata.name, drain: drain.id, blocked_by: progress.blocked_by };
  if (preflight === 'warn') ports.logger.warn('drain blocked', fields);
}

/** Tells, when a drain begins, which of its pods may take longer than the drain may. */
function tellMayTimeOut(ports: Ports, { request: { timeoutMs }, snapshot: { node }, drain, pods }: Considered): void {
  const slow = outlasting(podsLeft(pods), timeoutMs);
  if (slow.length === 0) return;
  void ports.events.record(node, drainMayTimeOut(timeoutMs, slow));
  const fields = { node: node.metadata.name, drain: drain.id, pods: slow.map(keyOf) };
  ports.logger.warn('pods may outlast their drain', fields);
}

/** 503: the marks are gone or another drain's, so this drain is over. The agent reads its shadow again and asks again. */
export function superseded(): RefusedError {
  return new RefusedError(503, 'Superseded', 'the drain was superseded or its marks were released; ask again');
}
