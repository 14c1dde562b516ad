import { ConflictError } from '../../kube/errors.ts';
import { joinParts } from '../../lib/parts.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import { shadowName } from '../../shadow/names.ts';
import type { Ports } from '../ports.ts';
import { retryOnConflict } from '../snapshot.ts';
import type { Blocked, Drain } from './drain.ts';
import { type DrainPod, podName } from './pod.ts';

/** Enough to act on; a status must not grow with the node. */
const MAX_LISTED = 20;

/** The value of `status.drain`. Its texts change only when the facts do. */
export function progressOf(since: string, pods: readonly DrainPod[], blocked: Blocked): DrainProgress {
  return { started_at: since, pods_left: pods.length, blocked_by: reasonsOf(pods, blocked).slice(0, MAX_LISTED) };
}

/** Of every pod that could not be evicted, why not. */
export function reasonsOf(pods: readonly DrainPod[], blocked: Blocked): readonly string[] {
  const reasons = pods.flatMap((pod) => {
    const why = blocked.get(pod.uid);
    return why === undefined ? [] : [`${why} (pod ${podName(pod)})`];
  });
  return reasons.toSorted();
}

/**
 * Every pod that a drain could not get rid of, with its reason. Whoever has no room for all of them shortens the text.
 * @param blocked what this replica has learnt; undefined where it has not worked on the drain
 * @param stated what the status says, which such a replica repeats as it is
 */
export function describeLeft(
  pods: readonly DrainPod[],
  blocked: Blocked | undefined,
  { blocked_by: stated }: Pick<DrainProgress, 'blocked_by'>,
): string {
  const before = blocked || stated.length === 0 ? '' : `blocked by ${joinParts(stated)}; `;
  return `${before}left: ${joinParts(pods.map((pod) => `${podName(pod)} (${whyLeft(pod, blocked)})`))}`;
}

function whyLeft({ uid, due }: DrainPod, blocked: Blocked | undefined): string {
  if (due !== undefined) return `ending, due at ${due}`;
  return blocked?.get(uid) ?? 'not evicted yet';
}

type StatusPorts = Pick<Ports, 'shadows' | 'clock' | 'logger'>;

/** Says that no pod is left, if the status still speaks of the drain that began at `since`. Never rejects. */
export async function reportEmpty(
  { shadows, logger }: Omit<StatusPorts, 'clock'>,
  { name: nodeName, since }: { readonly name: string; readonly since: string },
  signal: AbortSignal,
): Promise<void> {
  const name = shadowName(nodeName);
  try {
    await retryOnConflict(async () => {
      const shadow = await shadows.get(name, signal);
      if (shadow?.status?.drain?.started_at !== since) return;
      const { resourceVersion } = shadow.metadata;
      const status = { drain: progressOf(since, [], new Map()) };
      await shadows.patchStatus(name, { metadata: { resourceVersion }, status }, signal);
    });
  } catch (error) {
    logger.debug('progress of a drain not written', { node: nodeName, error });
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

  constructor(
    ports: StatusPorts,
    { node, since, progress, shadowVersion }: Omit<Drain, 'list' | 'seen'>,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#signal = signal;
    this.#nodeName = node.metadata.name;
    this.#since = since;
    this.#wanted = progress;
    this.#written = progress;
    this.#version = shadowVersion;
  }

  report(left: readonly DrainPod[], blocked: Blocked): void {
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
