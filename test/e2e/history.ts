import { listAndWatch } from '../../runtime/kube/reflector.ts';
import type { KubeObject, Node, Pod } from '../../runtime/kube/objects.ts';
import { collectionPath } from '../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import type { Shadow } from '../../runtime/api/shadow/model.ts';
import { GROUP, PLURAL, STORAGE_VERSION } from '../../runtime/api/shadow/names.ts';
import type { Sighting } from './sighting.ts';

export type StoredShadow = Shadow & KubeObject;

/**
 * Nodes, pods and shadows as the API server's watches tell of them: what is there now, by name, and every state of nodes and pods so far.
 */
export class History {
  readonly nodes = new Map<string, Node>();
  /** By `namespace/name`. */
  readonly pods = new Map<string, Pod>();
  readonly shadows = new Map<string, StoredShadow>();
  readonly sightings: Sighting[] = [];
  readonly #waiting = new Set<() => void>();

  /** Follows until the signal aborts, across outages of the API server. */
  async run(transport: KubeTransport, signal: AbortSignal): Promise<void> {
    const parts = { transport, signal };
    const nodes = collectionPath({ version: 'v1', plural: 'nodes' });
    const pods = collectionPath({ version: 'v1', plural: 'pods' });
    const shadows = collectionPath({ group: GROUP, version: STORAGE_VERSION, plural: PLURAL });
    await Promise.all([
      this.#follow(this.nodes, { ...parts, path: nodes, nameOf: bareName, seen: this.sightings }),
      this.#follow(this.pods, { ...parts, path: pods, nameOf: fullName, seen: this.sightings }),
      this.#follow(this.shadows, { ...parts, path: shadows, nameOf: bareName, seen: [] }),
    ]);
  }

  /** Resolves with what `check` finds, as soon as it finds anything but undefined and false. Rejects with what it throws. */
  until<T>(check: (history: this) => T | undefined | false): Promise<T> {
    return new Promise((resolve, reject) => {
      // At each change, and not later: a state that lasts for a moment only is not missed.
      const look = (): void => {
        try {
          const found = check(this);
          if (found === undefined || found === false) return;
          resolve(found);
        } catch (error) {
          reject(error);
        }
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  async #follow<T extends KubeObject>(
    present: Map<string, T>,
    { transport, path, signal, seen, nameOf }: Followed,
  ): Promise<void> {
    const see = (name: string, object: T, gone = false): void => {
      if (gone) present.delete(name);
      else present.set(name, object);
      seen.push({ atMs: systemClock.now(), object, gone });
    };
    const end = (name: string, resourceVersion: string): void => {
      const last = present.get(name);
      if (last) see(name, { ...last, metadata: { ...last.metadata, resourceVersion } }, true);
    };
    const options = { transport, path, clock: systemClock, random: Math.random, project: (object: T) => object };
    for await (const change of listAndWatch<T, T>(options, signal)) {
      if (change.kind === 'changed') see(nameOf(change.item.key), change.item.value);
      if (change.kind === 'deleted') end(nameOf(change.key), change.version);
      if (change.kind === 'replaced') {
        const listed = new Set(change.items.map(({ value }) => value.metadata.uid));
        for (const [name, { metadata }] of present) if (!listed.has(metadata.uid)) end(name, change.version);
        for (const { key, value } of change.items) see(nameOf(key), value);
      }
      for (const look of this.#waiting) look();
    }
  }
}

function bareName(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

function fullName(key: string): string {
  return key;
}

interface Followed {
  readonly transport: KubeTransport;
  readonly path: string;
  readonly signal: AbortSignal;
  /** The name that an object goes by here, of its `namespace/name`, or name alone. */
  readonly nameOf: (key: string) => string;
  readonly seen: Sighting[];
}
