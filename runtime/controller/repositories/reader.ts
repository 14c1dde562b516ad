import { createHash } from 'node:crypto';
import type { Basics } from '../../lib/basics.ts';
import { MINUTE_MS, rfc3339 } from '../../lib/clock.ts';
import { jitter } from '../../lib/random.ts';
import type { Wakeup } from '../../lib/wakeup.ts';
import { getOrInsert } from '../../lib/maps.ts';
import type { Publication, PublishedReleases } from '../../api/release/model.ts';
import { filledIn, platformOf, type Repository, rootOf } from '../../api/waves/repositories.ts';
import { type Listed, NOTHING_SEEN, type Request } from '../../repositories/protocol.ts';
import type { ReadRepository } from './child.ts';
import type { TrustMemory } from './memory.ts';

/** Releases come every few weeks, and their waves take days. */
const PAUSE_MS = 15 * MINUTE_MS;

/** How it stands with one repository of one family. */
export interface RepositoryState {
  readonly family: string;
  readonly metadata: string;
  /** When it was last read well, milliseconds since the Unix epoch; absent = never by this process. */
  readonly readAt?: number | undefined;
  /** Why it could not be read since; absent where it could. */
  readonly why?: string | undefined;
}

interface Known extends RepositoryState {
  readonly versions?: readonly Listed[] | undefined;
}

interface ReaderOptions extends Basics {
  readonly repositories: readonly Repository[];
  readonly read: ReadRepository;
  readonly memory: Pick<TrustMemory, 'recall' | 'note' | 'of'>;
  /** Of the hosts that there are. */
  readonly families: () => readonly string[];
  /** A folder that can be written. */
  readonly folder: string;
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/** What repositories list, for people: nothing is decided by it. The leader alone reads, one repository after the other. */
export class RepositoryReader {
  readonly #options: ReaderOptions;
  readonly #known = new Map<string, Known>();
  #published: PublishedReleases = new Map();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** By family, of which at least one repository was read. The last good answer of each counts. */
  get published(): PublishedReleases {
    return this.#published;
  }

  get states(): readonly RepositoryState[] {
    return [...this.#known.values()].map(({ family, metadata, readAt, why }) => ({ family, metadata, readAt, why }));
  }

  /** For one term as leader. */
  async lead(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    this.#known.clear();
    this.#published = new Map();
    while (!signal.aborted) {
      await this.#round(signal).catch((error: unknown) => this.#note(error, signal));
      await clock.sleep(jitter(PAUSE_MS, 0.1, random), signal).catch(() => undefined);
    }
  }

  #note(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.#options.logger.warn('repositories not read', { error });
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { repositories, families, memory, wakeup } = this.#options;
    // Without what was trusted before, an old answer could not be told from a new one.
    await memory.recall(signal);
    const wanted = families().flatMap((family) => repositories.map((one) => ({ family, one })));
    const asked = wanted.flatMap(({ family, one }) => requestFor(family, one, this.#options) ?? []);
    const keys = new Set(asked.map(({ key }) => key));
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key);
    for (const one of asked) await this.#read(one, signal);
    this.#published = publishedOf([...this.#known.values()]);
    wakeup.ring();
  }

  async #read({ key, family, request }: Asked, signal: AbortSignal): Promise<void> {
    const { read, memory, clock, logger } = this.#options;
    const { metadata } = request;
    const before = this.#known.get(key);
    const reading = await read(request, signal);
    if (reading.kind === 'failed') {
      if (before?.why !== reading.why) logger.warn('repository not read', { metadata, why: reading.why });
      this.#known.set(key, { ...before, family, metadata, why: reading.why });
      return;
    }
    await memory.note(key, reading, signal);
    this.#known.set(key, { family, metadata, versions: reading.versions, readAt: clock.now() });
  }
}

interface Asked {
  readonly key: string;
  readonly family: string;
  readonly request: Request;
}

function requestFor(
  family: string,
  repository: Repository,
  { memory, folder }: Pick<ReaderOptions, 'memory' | 'folder'>,
): Asked | undefined {
  const platform = platformOf(family);
  if (!platform) return undefined;
  const metadata = filledIn(repository.metadata, platform);
  const first = rootOf(repository);
  // Another root in the settings begins anew.
  const key = `${metadata} ${createHash('sha256').update(JSON.stringify(first)).digest('hex').slice(0, 16)}`;
  const { root = first, seen = NOTHING_SEEN } = memory.of(key) ?? {};
  const targets = filledIn(repository.targets, platform);
  return { key, family, request: { ...platform, metadata, targets, root, seen, folder, ca: repository.caBundle } };
}

function publishedOf(known: readonly Known[]): PublishedReleases {
  const families = new Map<string, Map<string, Publication>>();
  for (const { family, metadata, versions } of known) {
    if (!versions) continue;
    const listed = getOrInsert(families, family, () => new Map<string, Publication>());
    for (const { version, maxVersion, waves } of versions) {
      const before = listed.get(version);
      const times = waves.map(({ seed, at }) => ({ seed, time: rfc3339(at) }));
      const repositories = [...(before?.repositories ?? []), { metadata, waves: times }];
      listed.set(version, { maxVersion: before?.maxVersion ?? maxVersion ?? null, repositories });
    }
  }
  return families;
}
