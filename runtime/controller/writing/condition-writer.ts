import type { Basics } from '../../lib/basics.ts';
import type { Collection } from '../../kube/collection.ts';
import type { ShadowObject } from '../../api/resources.ts';
import { UP_TO_DATE } from '../../api/shadow/names.ts';
import type { Expectations } from '../seeing/expectations.ts';
import type { SetCondition } from '../plan/facts/commands.ts';
import { conditionUpToDate } from '../plan/facts/conditions.ts';
import { WriteQueue } from './write-queue.ts';

/** At most 10 writes a second: conditions can wait, and the writes that move updates on cannot. */
const PACE_MS = 100;
/** So long a shadow rests first. What is written to one that an agent and the apiserver work on makes them look at everything again. */
const QUIET_MS = 1000;
/** After this time one write tries whether a CRD that dropped conditions was replaced. */
const LOOK_AGAIN_MS = 3_600_000;
/** What can be written until the next plan, which is made at least once a minute. */
const CAPACITY = 60_000 / PACE_MS;

interface ConditionWriterOptions extends Basics {
  readonly shadows: Pick<Collection<ShadowObject>, 'patchStatus'>;
  readonly expectations: Expectations;
}

/** Writes conditions in the background, at its own pace. Each plan replaces what is still to be written. */
export class ConditionWriter {
  readonly #options: ConditionWriterOptions;
  readonly #queue: WriteQueue;
  /** When a write last came back without its condition, monotonic. */
  #droppedAt: number | undefined;

  constructor(options: ConditionWriterOptions) {
    this.#options = options;
    const bounds = { atOnce: 10, paceMs: PACE_MS, quietMs: QUIET_MS };
    this.#queue = new WriteQueue({ ...options, ...bounds, what: 'its condition' });
  }

  /**
   * How many writes a plan may ask for: those that can be made before the next plan, besides those that rest, and none where the served CRD drops
   * conditions silently.
   */
  get capacity(): number {
    const { clock } = this.#options;
    const isDropped = this.#droppedAt !== undefined && clock.monotonic() < this.#droppedAt + LOOK_AGAIN_MS;
    return isDropped ? 0 : CAPACITY + this.#queue.refused.size;
  }

  replace(pending: readonly SetCondition[]): void {
    this.#queue.replace(
      pending.map((command) => ({
        key: command.shadow,
        version: command.resourceVersion,
        write: (signal) => this.#write(command, signal),
      })),
    );
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

  async #write({ shadow, resourceVersion, conditions }: SetCondition, signal: AbortSignal): Promise<string> {
    const { shadows, expectations, clock, logger } = this.#options;
    const patch = { metadata: { resourceVersion }, status: { conditions } };
    const { metadata, status } = await shadows.patchStatus(shadow, patch, signal);
    expectations.written(shadow, metadata.resourceVersion);
    const isDropped = !conditionUpToDate(status ?? undefined);
    this.#droppedAt = isDropped ? clock.monotonic() : undefined;
    if (isDropped) {
      this.#queue.replace([]);
      logger.warn('the served CRD has no conditions', { condition: UP_TO_DATE });
    }
    return metadata.resourceVersion;
  }
}
