import { ConflictError, isDefinite, NotFoundError } from '../../kube/errors.ts';
import type { Collection, VersionedPatch } from '../../kube/collection.ts';
import { isAsNewAs, type ReleaseResource } from '../../kube/objects.ts';
import type { Clock } from '../../lib/clock.ts';
import { mergePatch } from '../../lib/json.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
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

const OUTDATED = { firstMs: 1000, maxMs: 1000 };

interface LedgerWriterOptions {
  readonly releases: Pick<Collection<ReleaseResource, VersionedPatch>, 'create' | 'patchStatus' | 'delete'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Rings when a plan has to know what became of a write. */
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/**
 * Writes the ledgers of releases, in the background. Each plan replaces what was not written yet. Every write carries the resourceVersion that it
 * was decided on, so that a leader that was deposed changes nothing.
 */
export class LedgerWriter {
  readonly #options: LedgerWriterOptions;
  readonly #queue: WorkQueue<ReleaseWrite>;
  /** By name, the resourceVersion that the last write made. A view from before that is not acted on. */
  readonly #written = new Map<string, string>();
  /** By name, why the last write was not taken. */
  readonly #refused = new Map<string, string>();

  constructor(options: LedgerWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      keyOf: ({ name }) => name,
      work: (write, signal) => this.#attempt(write, signal),
      atOnce: AT_ONCE,
    });
  }

  /** Why ledgers cannot be written, by name. */
  get refused(): Snapshot['releases']['refused'] {
    return new Map(this.#refused);
  }

  replace(writes: readonly ReleaseWrite[]): void {
    const wanted = new Set(writes.map(({ name }) => name));
    // Nothing is left to write: it has landed without an answer, or is no longer needed.
    for (const name of this.#refused.keys()) if (!wanted.has(name)) this.#taken(name);
    this.#queue.replace(writes.filter(({ name, seen }) => this.#isSeen(name, seen?.resourceVersion)));
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#written.clear();
    this.#refused.clear();
    await this.#queue.run(signal);
  }

  /** Whether the view is as new as our own last write. One that was deleted is not seen either, which is no reason to wait. */
  #isSeen(name: string, resourceVersion: string | undefined): boolean {
    const written = this.#written.get(name);
    return written === undefined || resourceVersion === undefined || isAsNewAs(resourceVersion, written);
  }

  async #attempt(write: ReleaseWrite, signal: AbortSignal): Promise<void> {
    const { logger, wakeup } = this.#options;
    const { name } = write;
    try {
      const resourceVersion = await this.#write(write, signal);
      this.#queue.forget(write);
      if (resourceVersion === undefined) this.#written.delete(name);
      else this.#written.set(name, resourceVersion);
      this.#taken(name);
    } catch (error) {
      if (signal.aborted) return;
      // After a conflict the next plan is made on the newer version.
      if (error instanceof ConflictError || error instanceof NotFoundError) return this.#queue.rest(write, OUTDATED);
      this.#queue.rest(write, PAUSE);
      this.#refused.set(name, `its ledger ${answerOf(error)}`);
      logger.warn('ledger not written', { release: name, isDefinite: isDefinite(error), error });
      wakeup.ring();
    }
  }

  #taken(name: string): void {
    if (this.#refused.delete(name)) this.#options.wakeup.ring();
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
