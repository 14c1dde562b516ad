import { isDeepStrictEqual } from 'node:util';
import { ConflictError } from '../../kube/errors.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { joinParts } from '../../lib/parts.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { Node } from '../../kube/objects.ts';
import { type DrainProgress, MAX_LEFT, type Status } from '../../api/shadow/model.ts';
import { shadowName } from '../../api/shadow/names.ts';
import type { Ports } from '../ports.ts';
import { NO_WAIT, stamped, tellRefusedReport } from '../refused-writes.ts';
import { retryOnConflict } from '../snapshot.ts';
import { type Cover, coverNow } from '../../drain/cover.ts';
import { type Blocked, type Drain, letFinish } from '../../drain/drain.ts';
import { podsLeft } from '../../drain/filter.ts';
import { type DrainPod, podName } from '../../drain/pod.ts';

/** A person can act on so many, and the status stays small on a node with many pods. */
const MAX_LISTED = 20;

/** The value of `status.drain`. Its texts change only when the facts do. */
export function progressOf(since: string, pods: readonly DrainPod[], blocked: Blocked): DrainProgress {
  return { started_at: since, pods_left: pods.length, blocked_by: listedReasons(pods, blocked) };
}

/** As many reasons as a status holds. */
export const listedReasons = (pods: readonly DrainPod[], blocked: Blocked): string[] =>
  reasonsOf(pods, blocked).slice(0, MAX_LISTED);

/** What it says besides while the drain lets work finish. */
export function waitOf({ list, wait }: Pick<Drain, 'list' | 'wait'>): Pick<DrainProgress, 'waits_for' | 'waits_until'> {
  const pods = letFinish(list, wait).map(podName);
  return wait ? { waits_for: pods.toSorted().slice(0, MAX_LISTED), waits_until: wait.until } : {};
}

/** Whether both say the same, apart from when they were reported. */
export const isSame = (a: DrainProgress | null | undefined, b: DrainProgress): boolean =>
  isDeepStrictEqual({ ...NO_WAIT, ...a, reported_at: null }, { ...NO_WAIT, ...b, reported_at: null });

/** Of every pod that could not be evicted, why not. */
export function reasonsOf(pods: readonly DrainPod[], blocked: Blocked): readonly string[] {
  const reasons = pods.flatMap((pod) => {
    const why = blocked.get(pod.uid);
    return why === undefined ? [] : [`${why} (pod ${podName(pod)})`];
  });
  return reasons.toSorted();
}

/**
 * Every pod that a drain has left, each with its reason, however long the text is: the caller shortens it.
 * @param blocked this replica's reasons; undefined where it has not worked on the drain
 * @param stated the status' reasons, which a replica without its own repeats
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

type StatusPorts = Pick<Ports, 'shadows' | 'clock' | 'logger' | 'events'>;

/** Says that no pod is left, if the status still speaks of the drain that began at `since`. Never rejects. */
export function reportEmpty(ports: EndPorts, drain: Pick<Ended, 'name' | 'since'>, signal: AbortSignal): Promise<void> {
  return restate(ports, { ...drain, signal }, { drain: progressOf(drain.since, [], new Map()) });
}

/** Says which pods a failed drain has left: no other drain begins before they can have gone, or it would evict others for nothing. Never rejects. */
export function reportFailed(ports: EndPorts, { node, since, list, progress }: Drain): Promise<void> {
  const pods = podsLeft(list);
  const left = pods.slice(0, MAX_LEFT).map(({ uid }) => uid);
  const drain_failed = { left, due: lastDue(pods) };
  return restate(ports, { name: node.metadata.name, since }, { drain: progress, drain_failed });
}

type EndPorts = Omit<StatusPorts, 'events'>;

interface Ended {
  /** Of the node. */
  readonly name: string;
  readonly since: string;
  readonly signal?: AbortSignal;
}

/** Writes what a drain has come to, however often others write meanwhile, if the status still speaks of it. Never rejects. */
async function restate(
  { shadows, clock, logger }: EndPorts,
  { name: nodeName, since, signal }: Ended,
  { drain, ...more }: { readonly drain: DrainProgress } & Pick<Status, 'drain_failed'>,
): Promise<void> {
  const name = shadowName(nodeName);
  try {
    await retryOnConflict(async () => {
      const shadow = await shadows.get(name, signal);
      if (shadow?.status?.drain?.started_at !== since) return;
      const { resourceVersion } = shadow.metadata;
      const status = { drain: stamped(drain, clock.now()), ...more };
      await shadows.patchStatus(name, { metadata: { resourceVersion }, status }, signal);
    });
  } catch (error) {
    logger.debug('progress of a drain not written', { node: nodeName, error });
  }
}

/** When the last of those that are ending is due (RFC 3339). */
function lastDue(pods: readonly DrainPod[]): string | null {
  const due = Math.max(...pods.map((pod) => instantOf(pod.due) ?? -Infinity));
  return Number.isFinite(due) ? rfc3339(due) : null;
}

/** Least time between two writes, milliseconds: most drains of a few pods are over by then. */
const INTERVAL_MS = 5_000;
/** What has not changed is said again after this time, or nobody could tell it from what a replica said before it was cut off. */
const SAID_AGAIN_MS = 30_000;

/** Keeps `status.drain` up to date while a drain runs: the newest state, at most every five seconds, and each half minute in any case. */
export class StatusWriter {
  readonly #ports: StatusPorts;
  readonly #signal: AbortSignal;
  readonly #node: Node;
  readonly #since: string;
  readonly #changed = new Wakeup();
  #wanted: DrainProgress;
  /** What covers its pods, and as it was written last. */
  #cover: Cover;
  #writtenCover: Cover;
  #written: DrainProgress;
  #version: string;
  /** When it has to be said again, milliseconds since the Unix epoch. */
  #dueAt: number;
  #isRunning = false;
  /** It is refused, and an Event says so. */
  #isTold = false;
  /** The status speaks of another drain, or of none. */
  #isOver = false;

  constructor(
    ports: StatusPorts,
    { node, since, progress, cover, shadowVersion }: Omit<Drain, 'list' | 'seen'>,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#signal = signal;
    this.#node = node;
    this.#since = since;
    this.#wanted = progress;
    this.#written = progress;
    this.#cover = cover;
    this.#writtenCover = cover;
    this.#version = shadowVersion;
    this.#dueAt = (instantOf(progress.reported_at) ?? ports.clock.now()) + SAID_AGAIN_MS;
  }

  report({ list, wait }: Pick<Drain, 'list' | 'wait'>, blocked: Blocked): void {
    const left = podsLeft(list);
    this.#wanted = { ...progressOf(this.#since, left, blocked), ...waitOf({ list, wait }) };
    this.#cover = coverNow(this.#cover, left);
    this.#changed.ring();
    if (!this.#isRunning) void this.#run();
  }

  /** Waits before it writes: the drain has just written its first status, and a short drain needs no second one. */
  async #run(): Promise<void> {
    const { clock } = this.#ports;
    this.#isRunning = true;
    while (!this.#signal.aborted && !this.#isOver) {
      while (!this.#signal.aborted && isSame(this.#wanted, this.#written) && clock.now() < this.#dueAt) {
        await this.#changed.wait(clock, this.#dueAt, this.#signal);
      }
      await clock.sleep(INTERVAL_MS, this.#signal).catch(() => undefined);
      if (!this.#signal.aborted) await this.#write(this.#wanted);
    }
  }

  async #write(drain: DrainProgress): Promise<void> {
    const { clock, logger } = this.#ports;
    try {
      await this.#patch(drain);
      this.#isTold = false;
      this.#dueAt = clock.now() + SAID_AGAIN_MS;
    } catch (error) {
      if (this.#signal.aborted) return;
      if (!this.#isTold) this.#isTold = tellRefusedReport(this.#ports, this.#node, error);
      logger.debug('progress of a drain not written', { node: this.#node.metadata.name, error });
    }
  }

  /** Writes with a resourceVersion, so that progress of a drain that is over cannot come back into the status. */
  async #patch(drain: DrainProgress): Promise<void> {
    const { shadows, clock } = this.#ports;
    const name = shadowName(this.#node.metadata.name);
    const cover = this.#cover;
    const displaced = cover !== this.#writtenCover && { displaced: { budgets: cover } };
    try {
      const status = { drain: stamped(drain, clock.now()), ...displaced };
      const patch = { metadata: { resourceVersion: this.#version }, status };
      this.#version = (await shadows.patchStatus(name, patch, this.#signal)).metadata.resourceVersion;
      this.#written = drain;
      this.#writtenCover = cover;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const shadow = await shadows.get(name, this.#signal);
      if (shadow?.status?.drain?.started_at === this.#since) this.#version = shadow.metadata.resourceVersion;
      else this.#isOver = true;
    }
  }
}
