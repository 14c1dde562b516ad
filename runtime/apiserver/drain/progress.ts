import { ConflictError } from '../../kube/errors.ts';
import type { Ports } from '../ports.ts';
import { type DrainProgress } from '../../shadow/model.ts';
import { shadowName } from '../../shadow/names.ts';
import type { Admitted } from './admission.ts';
import type { DrainSet } from './drain-set.ts';
import { fromTheStart } from '../sight.ts';
import { progressOf } from './words.ts';

/** Least time between two writes, milliseconds. */
const INTERVAL_MS = 2_000;

export interface ProgressOptions {
  readonly nodeName: string;
  readonly admitted: Pick<Admitted, 'since' | 'progress' | 'shadowVersion'>;
  readonly signal: AbortSignal;
}

type ProgressPorts = Pick<Ports, 'shadows' | 'clock' | 'logger'>;

/** Says that no pod is left, if the status still speaks of the drain that began at `since`. Never rejects. */
export async function stateEmpty(
  { shadows, logger }: Pick<Ports, 'shadows' | 'logger'>,
  { nodeName, since, signal }: { readonly nodeName: string; readonly since: string; readonly signal: AbortSignal },
): Promise<void> {
  const name = shadowName(nodeName);
  try {
    await fromTheStart(async () => {
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

/** Keeps `status.drain` up to date while a drain runs: the newest state, where it differs, at most every two seconds. */
export class ProgressWriter {
  readonly #ports: ProgressPorts;
  readonly #options: ProgressOptions;
  #wanted: DrainProgress;
  #written: DrainProgress;
  #version: string;
  #writing = false;

  constructor(ports: ProgressPorts, options: ProgressOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#wanted = options.admitted.progress;
    this.#written = options.admitted.progress;
    this.#version = options.admitted.shadowVersion;
  }

  report(left: Pick<DrainSet, 'pods' | 'own'>, blocked: ReadonlyMap<string, string>): void {
    this.#wanted = progressOf(this.#options.admitted.since, [...left.pods, ...left.own], blocked);
    if (!this.#writing) void this.#write();
  }

  /** Waits first: the admission of the drain has just written, and a drain that is soon over needs no more. */
  async #write(): Promise<void> {
    const { clock, logger } = this.#ports;
    const { signal, nodeName } = this.#options;
    this.#writing = true;
    while (!signal.aborted && JSON.stringify(this.#wanted) !== JSON.stringify(this.#written)) {
      await clock.sleep(INTERVAL_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#patch(this.#wanted).catch((error: unknown) => {
        if (!signal.aborted) logger.debug('progress of a drain not written', { node: nodeName, error });
      });
    }
    this.#writing = false;
  }

  /** Bears a resourceVersion: progress of a drain that is over must not come back into the status. */
  async #patch(drain: DrainProgress): Promise<void> {
    const { nodeName, signal, admitted } = this.#options;
    const name = shadowName(nodeName);
    const { shadows } = this.#ports;
    try {
      const patch = { metadata: { resourceVersion: this.#version }, status: { drain } };
      this.#version = (await shadows.patchStatus(name, patch, signal)).metadata.resourceVersion;
      this.#written = drain;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const shadow = await shadows.get(name, signal);
      if (shadow?.status?.drain?.started_at === admitted.since) this.#version = shadow.metadata.resourceVersion;
      else this.#written = drain;
    }
  }
}
