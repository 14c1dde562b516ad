import { ConflictError } from '../../kube/errors.ts';
import type { Node, Pod } from '../../kube/objects.ts';
import { keyOf } from '../../kube/reflector.ts';
import { joinParts } from '../../lib/parts.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import { shadowName } from '../../shadow/names.ts';
import type { Preflight } from '../config.ts';
import type { NodeEvent, Ports } from '../ports.ts';
import { retryOnConflict } from '../snapshot.ts';
import type { Blocked } from './filter.ts';
import { graceSeconds } from './preflight.ts';

/** Enough to act on; a status must not grow with the node. */
const MAX_LISTED = 20;

/** A drain as its status is reported. */
export interface ReportedDrain {
  /** As it was at the moment it was seen, or made, cordoned by this drain. */
  readonly node: Node;
  /** When it began (RFC 3339). */
  readonly since: string;
  /** As it stands in the shadow's status. */
  readonly progress: DrainProgress;
  /** resourceVersion of the shadow after that. */
  readonly shadowVersion: string;
}

/** The value of `status.drain`. Its texts change only when the facts do. */
export function progressOf(since: string, pods: readonly Pod[], blocked: Blocked): DrainProgress {
  return { started_at: since, pods_left: pods.length, blocked_by: reasonsOf(pods, blocked).slice(0, MAX_LISTED) };
}

/** Of every pod that could not be evicted, why not. */
export function reasonsOf(pods: readonly Pod[], blocked: Blocked): readonly string[] {
  const reasons = pods.flatMap((pod) => {
    const why = blocked.get(pod.metadata.uid);
    return why === undefined ? [] : [`${why} (pod ${keyOf(pod)})`];
  });
  return reasons.toSorted();
}

/**
 * Every pod that a drain could not get rid of, with its reason. Whoever has no room for all of them shortens the text.
 * @param blocked what this replica has learnt; undefined where it has not worked on the drain
 * @param stated what the status says, which such a replica repeats as it is
 */
export function describeLeft(
  pods: readonly Pod[],
  blocked: Blocked | undefined,
  { blocked_by: stated }: Pick<DrainProgress, 'blocked_by'>,
): string {
  const before = blocked || stated.length === 0 ? '' : `blocked by ${joinParts(stated)}; `;
  return `${before}left: ${joinParts(pods.map((pod) => `${keyOf(pod)} (${whyLeft(pod, blocked)})`))}`;
}

function whyLeft({ metadata }: Pod, blocked: Blocked | undefined): string {
  if (metadata.deletionTimestamp !== undefined) return `ending, due at ${metadata.deletionTimestamp}`;
  return blocked?.get(metadata.uid) ?? 'not evicted yet';
}

type StatusPorts = Pick<Ports, 'shadows' | 'clock' | 'logger'>;

/** Says that no pod is left, if the status still speaks of the drain that began at `since`. Never rejects. */
export async function reportEmpty(
  { shadows, logger }: Omit<StatusPorts, 'clock'>,
  { node, since }: Pick<ReportedDrain, 'node' | 'since'>,
  signal: AbortSignal,
): Promise<void> {
  const name = shadowName(node.metadata.name);
  try {
    await retryOnConflict(async () => {
      const shadow = await shadows.get(name, signal);
      if (shadow?.status?.drain?.started_at !== since) return;
      const { resourceVersion } = shadow.metadata;
      const status = { drain: progressOf(since, [], new Map()) };
      await shadows.patchStatus(name, { metadata: { resourceVersion }, status }, signal);
    });
  } catch (error) {
    logger.debug('progress of a drain not written', { node: node.metadata.name, error });
  }
}

/** Least time between two writes, milliseconds. */
const INTERVAL_MS = 2_000;

/** Keeps `status.drain` up to date while a drain runs: the newest state, where it differs, at most every two seconds. */
export class StatusWriter {
  readonly #ports: StatusPorts;
  readonly #signal: AbortSignal;
  readonly #nodeName: string;
  readonly #since: string;
  #wanted: DrainProgress;
  #written: DrainProgress;
  #version: string;
  #writing = false;

  constructor(ports: StatusPorts, { node, since, progress, shadowVersion }: ReportedDrain, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
    this.#nodeName = node.metadata.name;
    this.#since = since;
    this.#wanted = progress;
    this.#written = progress;
    this.#version = shadowVersion;
  }

  report(left: readonly Pod[], blocked: Blocked): void {
    this.#wanted = progressOf(this.#since, left, blocked);
    if (!this.#writing) void this.#write();
  }

  /** Waits first: the drain has just written its first status, and a short drain needs no second one. */
  async #write(): Promise<void> {
    const { clock, logger } = this.#ports;
    this.#writing = true;
    while (!this.#signal.aborted && JSON.stringify(this.#wanted) !== JSON.stringify(this.#written)) {
      await clock.sleep(INTERVAL_MS, this.#signal).catch(() => undefined);
      if (this.#signal.aborted) return;
      await this.#patch(this.#wanted).catch((error: unknown) => {
        if (!this.#signal.aborted) logger.debug('progress of a drain not written', { node: this.#nodeName, error });
      });
    }
    this.#writing = false;
  }

  /** Writes with a resourceVersion, so that progress of a drain that is over cannot come back into the status. */
  async #patch(drain: DrainProgress): Promise<void> {
    const name = shadowName(this.#nodeName);
    const { shadows } = this.#ports;
    try {
      const patch = { metadata: { resourceVersion: this.#version }, status: { drain } };
      this.#version = (await shadows.patchStatus(name, patch, this.#signal)).metadata.resourceVersion;
      this.#written = drain;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const shadow = await shadows.get(name, this.#signal);
      if (shadow?.status?.drain?.started_at === this.#since) this.#version = shadow.metadata.resourceVersion;
      else this.#written = drain;
    }
  }
}

export function drainStarted(pods: number): NodeEvent {
  return { type: 'Normal', reason: 'DrainStarted', message: `Draining for a Bottlerocket update, ${pods} pods to go` };
}

/** Why pods cannot be evicted, told before the drain begins, in the words of its progress. */
export function drainBlocked(preflight: Preflight, { blocked_by }: Pick<DrainProgress, 'blocked_by'>): NodeEvent {
  const [reason, what] =
    preflight === 'refuse' ? ['DrainRefused', 'Not drained'] : ['DrainBlocked', 'The drain will not end by itself'];
  const message = `${what}; no eviction can be granted as things are: ${joinParts(blocked_by)}`;
  return { type: 'Warning', reason, message };
}

/** @param timeoutMs of the drain; @param pods that may take longer to end */
export function drainMayTimeOut(timeoutMs: number, pods: readonly Pod[]): NodeEvent {
  const named = joinParts(pods.map((pod) => `${keyOf(pod)} (${graceSeconds(pod)} s)`));
  const message = `The drain fails after ${timeoutMs / 1000} s, and these pods may take longer to end: ${named}`;
  return { type: 'Warning', reason: 'DrainMayTimeOut', message };
}

/** @param seconds that the drain took; @param tolerating pods that came after the cordon, which they tolerate */
export function drainFinished(seconds: number, tolerating: readonly Pod[]): NodeEvent {
  const came =
    tolerating.length > 0 ? `; pods that tolerate the cordon came since: ${joinParts(tolerating.map(keyOf))}` : '';
  const message = `Drained for a Bottlerocket update in ${Math.round(seconds)} s${came}`;
  return { type: 'Normal', reason: 'DrainFinished', message };
}

/** @param volumes by their unique names */
export function waitingForVolumes(volumes: readonly string[]): NodeEvent {
  const message = `Waiting until volumes of drained pods are unmounted: ${joinParts(volumes)}`;
  return { type: 'Normal', reason: 'WaitingForVolumes', message };
}

/** @param volumes by their unique names */
export function volumesInUse(volumes: readonly string[]): NodeEvent {
  const message = `Volumes of drained pods are not unmounted in time, and their pods may have to wait for them: ${joinParts(volumes)}`;
  return { type: 'Warning', reason: 'VolumesInUse', message };
}

export function drainFailed(message: string): NodeEvent {
  return { type: 'Warning', reason: 'DrainFailed', message };
}
