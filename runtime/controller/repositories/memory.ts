import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Collection } from '../../kube/collection.ts';
import type { ConfigMap } from '../../kube/objects.ts';
import { jsonObject } from '../../lib/json.ts';
import { REPOSITORIES_STATE } from '../../api/waves/names.ts';
import type { Seen } from '../../repositories/protocol.ts';

/** What was trusted of one repository of one platform at its last good reading. */
interface Trusted {
  /** The text of its newest root. */
  readonly root: string;
  readonly seen: Seen;
}

const version = z.int().min(0);
const schema = z.object({
  /** By SHA-256, because families share theirs. */
  roots: z.record(z.string(), z.string()).catch({}),
  read: z
    .record(
      z.string(),
      z.object({ root: z.string(), seen: z.object({ timestamp: version, snapshot: version, targets: version }) }),
    )
    .catch({}),
});

const KEY = 'state.json';
/** Repositories of platforms, and characters of their roots. It keeps the ConfigMap below 1 MiB. */
const MOST = 500;
const ROOTS = 600_000;

type ConfigMaps = Pick<Collection<ConfigMap>, 'get' | 'create' | 'patch'>;

/**
 * Trusted roots and versions, in one ConfigMap, so that neither a restart nor another leader can be led back to what was before. Versions only
 * grow, so a late write of a leader that was deposed undoes nothing.
 */
export class TrustMemory {
  readonly #configMaps: ConfigMaps;
  #known: ReadonlyMap<string, Trusted> = new Map();

  constructor(configMaps: ConfigMaps) {
    this.#configMaps = configMaps;
  }

  of(key: string): Trusted | undefined {
    return this.#known.get(key);
  }

  /** Reads what the cluster remembers. To be called before each round of readings. @throws as the API server does */
  async recall(signal: AbortSignal): Promise<void> {
    const stored = await this.#configMaps.get(REPOSITORIES_STATE, signal);
    this.#known = read(stored?.data?.[KEY]);
  }

  /** @throws as the API server does, ConflictError among it */
  async note(key: string, trusted: Trusted, signal: AbortSignal): Promise<void> {
    const before = this.#known.get(key);
    if (before && before.root === trusted.root && isSame(before.seen, trusted.seen)) return;
    const stored = await this.#configMaps.get(REPOSITORIES_STATE, signal);
    const all = new Map(read(stored?.data?.[KEY]));
    const there = all.get(key);
    all.delete(key);
    all.set(key, there && trusted.seen.timestamp < there.seen.timestamp ? there : trusted);
    const data = { [KEY]: written(all) };
    const metadata = { name: REPOSITORIES_STATE };
    if (stored)
      await this.#configMaps.patch(
        REPOSITORIES_STATE,
        { metadata: { resourceVersion: stored.metadata.resourceVersion }, data },
        signal,
      );
    else await this.#configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, signal);
    this.#known = all;
  }
}

const isSame = (a: Seen, b: Seen): boolean =>
  a.timestamp === b.timestamp && a.snapshot === b.snapshot && a.targets === b.targets;

/** People may have edited it: what makes no sense is forgotten. */
function read(text: string | undefined): ReadonlyMap<string, Trusted> {
  const { roots, read: entries } = schema.parse(jsonObject(text));
  return new Map(
    Object.entries(entries).flatMap(([key, { root, seen }]) => {
      const found = roots[root];
      return found === undefined ? [] : [[key, { root: found, seen }] as const];
    }),
  );
}

/** Where not all fits, the newest are written. */
function written(all: ReadonlyMap<string, Trusted>): string {
  const roots = new Map<string, string>();
  let room = ROOTS;
  const kept = [...all].slice(-MOST).toReversed();
  const entries = kept.flatMap(([key, { root, seen }]) => {
    const name = createHash('sha256').update(root).digest('hex');
    if (!roots.has(name)) room -= root.length * 2;
    if (room < 0) return [];
    roots.set(name, root);
    return [[key, { root: name, seen }] as const];
  });
  return JSON.stringify({ roots: Object.fromEntries(roots), read: Object.fromEntries(entries.toReversed()) });
}
