import { ConflictError, isDefinite, NotFoundError } from '../../kube/errors.ts';
import type { Collection, VersionedPatch } from '../../kube/collection.ts';
import { isAsNewAs, type ReleaseResource } from '../../kube/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import { mergePatch } from '../../lib/json.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import type { Wakeup } from '../../lib/wakeup.ts';
import { WorkQueue } from '../../lib/work-queue.ts';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../release/names.ts';
import type { ReleaseWrite } from '../plan/ledger.ts';
import type { Snapshot } from '../plan/snapshot.ts';
import { answerOf } from '../write-refusals.ts';

/** Most writes under way at once. */
const AT_ONCE = 4;
/** After a write that was refused, not answered, or did not change what it should. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };

interface LedgerWriterOptions {
  readonly releases: Pick<Collection<ReleaseResource, VersionedPatch>, 'create' | 'patchStatus' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Rings when a plan has to know what became of a write. */
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/** What became of the last write to a release. Times are monotonic. */
interface Last {
  /** No other write before. */
  readonly restedAt: number;
  /** In a row. */
  readonly failures: number;
  /** The resourceVersion that the last successful write made. A view from before that is not acted on. */
  readonly resourceVersion?: string;
  /** In words, where it was not taken. */
  readonly refused?: string;
}

/**
 * Writes the ledgers of releases, in the background. Each plan replaces what was not written yet. Every write carries the resourceVersion that it
 * was decided on, so that a leader that was deposed changes nothing.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #queue: WorkQueue<ReleaseWrite>;
  /** By name. */
  readonly #last = new Map<string, Last>();

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      keyOf: ({ name }) => name,
      work: (write, signal) => this.#attempt(write, signal),
      atOnce: AT_ONCE,
      // Whole milliseconds: a fraction is too small to be added to the wall clock, and would be waited for again and again.
      restMs: ({ name }) => Math.ceil((this.#last.get(name)?.restedAt ?? -Infinity) - options.clock.monotonic()),
    });
  }

  /** Why ledgers cannot be written, by name. */
  get refused(): Snapshot['releases']['refused'] {
    return new Map([...this.#last].flatMap(([name, { refused }]) => (refused === undefined ? [] : [[name, refused]])));
  }

  replace(writes: readonly ReleaseWrite[]): void {
    this.#queue.replace(writes.filter(({ name, seen }) => this.#isSeen(name, seen?.resourceVersion)));
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#queue.replace([]);
    this.#last.clear();
    await this.#queue.run(signal);
  }

  /** Whether the view is as new as our own last write. One that was deleted is not seen either, which is no reason to wait. */
  #isSeen(name: string, resourceVersion: string | undefined): boolean {
    const written = this.#last.get(name)?.resourceVersion;
    return written === undefined || resourceVersion === undefined || isAsNewAs(resourceVersion, written);
  }

  async #attempt(write: ReleaseWrite, signal: AbortSignal): Promise<void> {
    const { clock, logger, wakeup } = this.#options;
    const { name } = write;
    const last = this.#last.get(name);
    try {
      const resourceVersion = await this.#write(write, signal);
      this.#last.set(name, { restedAt: -Infinity, failures: 0, ...(resourceVersion && { resourceVersion }) });
      if (last?.refused !== undefined) wakeup.ring();
    } catch (error) {
      if (signal.aborted) return;
      const isOutdated = error instanceof ConflictError || error instanceof NotFoundError;
      const { failures = 0 } = last ?? {};
      const pauseMs = backoff(failures, { ...PAUSE, random: this.#options.random });
      const restedAt = clock.monotonic() + pauseMs;
      // After a conflict the next plan is made on the newer version.
      if (isOutdated) this.#last.set(name, { ...last, restedAt, failures });
      else {
        this.#last.set(name, { ...last, restedAt, failures: failures + 1, refused: `its ledger ${answerOf(error)}` });
        logger.warn('ledger not written', { release: name, isDefinite: isDefinite(error), error });
        wakeup.ring();
      }
    }
  }

  /** @returns the resourceVersion that it has now */
  async #write(write: ReleaseWrite, signal: AbortSignal): Promise<string | undefined> {
    const { releases } = this.#options;
    const { name, family, version, seen, ledger } = write;
    if (!ledger) {
      if (seen) await releases.delete(name, { uid: seen.uid, resourceVersion: seen.resourceVersion }, signal);
      return undefined;
    }
    const object = {
      apiVersion: RELEASE_API_VERSION,
      kind: RELEASE_KIND,
      metadata: { name },
      spec: { family, version },
    };
    const resourceVersion = seen?.resourceVersion ?? (await releases.create(object, signal)).metadata.resourceVersion;
    const status = mergePatch({ ...seen?.ledger }, { ...ledger });
    const { metadata } = await releases.patchStatus(name, { metadata: { resourceVersion }, status }, signal);
    if (metadata.resourceVersion === resourceVersion) throw new Error('the served CRD drops what was written');
    return metadata.resourceVersion;
  }
}
