import type { Collection, VersionedPatch } from '../../kube/collection.ts';
import type { ReleaseResource } from '../../api/resources.ts';
import type { Basics } from '../../lib/basics.ts';
import { mergePatch } from '../../lib/json.ts';
import type { Wakeup } from '../../lib/wakeup.ts';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../api/release/names.ts';
import type { ReleaseWrite } from '../plan/groups/ledger.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import { WriteQueue } from './write-queue.ts';

interface LedgerWriterOptions extends Basics {
  readonly releases: Pick<Collection<ReleaseResource, VersionedPatch>, 'create' | 'patchStatus' | 'delete'>;
  /** Rings when a plan has to know what became of a write. */
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/**
 * Writes the ledgers of releases, in the background. Each plan replaces what was not written yet. Every write carries the resourceVersion that it
 * was decided on, so that a leader that was deposed changes nothing.
 */
export class LedgerWriter {
  readonly #releases: LedgerWriterOptions['releases'];
  readonly #queue: WriteQueue;

  constructor({ releases, wakeup, ...options }: LedgerWriterOptions) {
    this.#releases = releases;
    this.#queue = new WriteQueue({ ...options, what: 'its ledger', atOnce: 4, onRefusals: () => wakeup.ring() });
  }

  /** Why ledgers cannot be written, by name. */
  get refused(): Snapshot['releases']['refused'] {
    return this.#queue.refused;
  }

  replace(writes: readonly ReleaseWrite[]): void {
    this.#queue.replace(
      writes.map((write) => ({
        key: write.name,
        seen: write.seen?.resourceVersion,
        write: (signal) => this.#write(write, signal),
      })),
    );
  }

  /** For one term as leader. */
  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run(signal);
  }

  async #write(
    { name, family, version, seen, ledger }: ReleaseWrite,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!ledger) {
      if (seen) await this.#releases.delete(name, { uid: seen.uid, resourceVersion: seen.resourceVersion }, signal);
      return undefined;
    }
    const object = {
      apiVersion: RELEASE_API_VERSION,
      kind: RELEASE_KIND,
      metadata: { name },
      spec: { family, version },
    };
    const before = seen?.resourceVersion ?? (await this.#releases.create(object, signal)).metadata.resourceVersion;
    const status = mergePatch({ ...seen?.ledger }, { ...ledger });
    const patch = { metadata: { resourceVersion: before }, status };
    return (await this.#releases.patchStatus(name, patch, signal)).metadata.resourceVersion;
  }
}
