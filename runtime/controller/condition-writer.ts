import { ConflictError, NotFoundError } from '../kube/errors.ts';
import type { Collection } from '../kube/collection.ts';
import type { ShadowObject } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { STALE } from '../lib/rate-limiter.ts';
import { WorkQueue } from '../lib/work-queue.ts';
import { UP_TO_DATE } from '../shadow/names.ts';
import type { Expectations } from './expectations.ts';
import type { SetCondition } from './plan/commands.ts';
import { upToDate } from './plan/conditions.ts';
import type { WriteRefusals } from './write-refusals.ts';

/** At most 10 writes a second: conditions can wait, and the writes that move updates on cannot. */
const PACE_MS = 100;
/** Most writes under way at once. While that many hang, the conditions of other shadows wait. */
const AT_ONCE = 10;
/** After this time one write tries whether a CRD that dropped conditions was replaced. */
const LOOK_AGAIN_MS = 3_600_000;
/** What can be written until the next plan, which is made at least once a minute. */
const CAPACITY = 60_000 / PACE_MS;

interface ConditionWriterOptions {
  readonly shadows: Pick<Collection<ShadowObject>, 'patchStatus'>;
  readonly expectations: Expectations;
  readonly refusals: WriteRefusals;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Writes conditions in the background, at its own pace. Each plan replaces what is still to be written. */
export class ConditionWriter {
  readonly #options: ConditionWriterOptions;
  /** One write to a shadow at a time: the next one depends on the answer. */
  readonly #queue: WorkQueue<SetCondition>;
  /** When a write last came back without its condition, monotonic. */
  #droppedAt: number | undefined;

  constructor(options: ConditionWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      keyOf: ({ shadow }) => shadow,
      work: (command, signal) => this.#write(command, signal),
      atOnce: AT_ONCE,
      paceMs: PACE_MS,
      versionOf: ({ resourceVersion }) => resourceVersion,
    });
  }

  /** How many writes a plan may ask for: those that can be made before the next plan, and none where the served CRD drops conditions silently. */
  get capacity(): number {
    const { clock } = this.#options;
    const isDropped = this.#droppedAt !== undefined && clock.monotonic() < this.#droppedAt + LOOK_AGAIN_MS;
    return isDropped ? 0 : CAPACITY;
  }

  replace(pending: readonly SetCondition[]): void {
    this.#queue.replace(pending);
  }

  /** Whether a condition of this shadow is being written. */
  isWriting(shadow: string): boolean {
    return this.#queue.isUnderWay(shadow);
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#droppedAt = undefined;
    await this.#queue.run(signal);
  }

  async #write(command: SetCondition, signal: AbortSignal): Promise<void> {
    const { shadows, expectations, refusals, clock, logger } = this.#options;
    const { shadow, resourceVersion, conditions } = command;
    try {
      const patch = { metadata: { resourceVersion }, status: { conditions } };
      const written = await shadows.patchStatus(shadow, patch, signal);
      expectations.written(shadow, written.metadata.resourceVersion);
      refusals.delete(command);
      if (upToDate(written.status ?? undefined)) {
        this.#droppedAt = undefined;
        return;
      }
      this.#droppedAt = clock.monotonic();
      this.#queue.replace([]);
      logger.warn('the served CRD has no conditions', { condition: UP_TO_DATE });
    } catch (error) {
      if (signal.aborted) return;
      // The shadow was changed or deleted, and the cache is to show that. Then a plan decides anew.
      if (error instanceof ConflictError || error instanceof NotFoundError)
        return this.#queue.rest(command, STALE, resourceVersion);
      refusals.add(command, error);
      logger.warn('condition not written', { shadow, error });
    }
  }
}
