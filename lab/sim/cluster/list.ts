import type { Core } from './core.ts';
import { requireReached } from './list-options.ts';
import type { KubeJson } from './object.ts';
import { type Scope, select } from './selection.ts';
import { badRequest, expired } from './status.ts';

/** A page of a list, as stored. */
export interface Page {
  readonly items: readonly KubeJson[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/** A list that is being read in pages: what it was when the first was read. */
interface Snapshot {
  readonly id: number;
  readonly version: number;
  readonly items: readonly KubeJson[];
}

/** As many lists can be read in pages at once; older ones answer 410. */
const MOST_SNAPSHOTS = 64;

/** Lists of objects. The pages of one list show one moment, as those of an API server do. */
export class Lists {
  readonly #core: Core;
  readonly #snapshots = new Map<number, Snapshot>();
  #next = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  /** @throws StatusError 400, 410 when the continue token is too old */
  page(scope: Scope): Page {
    const { query } = scope;
    const limit = Math.max(0, Number(query['limit'] ?? 0)) || Infinity;
    if (query['continue']) return this.#resume(query['continue'], limit);
    requireReached(this.#core.store, query);
    const snapshot = { id: this.#next, version: this.#core.store.version, items: listAll(this.#core, scope) };
    if (snapshot.items.length > limit) {
      this.#snapshots.set(this.#next++, snapshot);
      this.#snapshots.delete(snapshot.id - MOST_SNAPSHOTS);
    }
    return slice(snapshot, 0, limit);
  }

  /** Forgets all lists in progress, as a compaction of the real store would. */
  forget(): void {
    this.#snapshots.clear();
  }

  #resume(token: string, limit: number): Page {
    const [id, offset] = Buffer.from(token, 'base64url').toString().split(':').map(Number);
    if (id === undefined || offset === undefined || Number.isNaN(id + offset)) {
      throw badRequest('continue key is not valid');
    }
    const snapshot = this.#snapshots.get(id);
    if (snapshot) return slice(snapshot, offset, limit);
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
    );
  }
}

function slice({ id, version, items }: Snapshot, from: number, limit: number): Page {
  const end = Math.min(from + limit, items.length);
  const more = end < items.length && {
    continue: Buffer.from(`${id}:${end}`).toString('base64url'),
    remainingItemCount: items.length - end,
  };
  return { items: items.slice(from, end), metadata: { resourceVersion: String(version), ...more } };
}

/** All objects that the scope selects. @throws StatusError 400 */
export function listAll(core: Core, scope: Scope): readonly KubeJson[] {
  const { type, namespace } = scope;
  const { matches, name } = select(scope);
  const direct = name !== undefined && (namespace !== undefined || !type.namespaced);
  const candidates = direct
    ? [core.store.get({ type, namespace, name })].filter((object) => object !== undefined)
    : core.store.collection(type).list(namespace);
  return candidates.filter(matches);
}
