import type { WatchEvent } from '../../../runtime/kube/transport.ts';
import type { EventStream } from './api.ts';
import type { Change, Collection, Subscriber } from './collection.ts';
import { type Core, oneInVersion } from './core.ts';
import { listAll } from './list.ts';
import { type KubeJson, withMeta } from './object.ts';
import { Queue } from './queue.ts';
import { type Scope, select, type Selection } from './selection.ts';
import { expired, statusBody, StatusError } from './status.ts';

/** A watch that names no timeout ends after half an hour to an hour, milliseconds. */
const LEAST_TIMEOUT_MS = 1_800_000;

/** Made once: an abort without a reason makes an error of its own, with its stack. */
const CLOSED = new Error('closed');

/** One client's watch: what it selects, and the events that it has not read yet. */
export class Watch implements Subscriber, EventStream {
  readonly name?: string;
  readonly #core: Core;
  readonly #scope: Scope;
  readonly #selection: Selection;
  readonly #collection: Collection;
  /** The resourceVersion that the client has seen; 0 = none. */
  readonly #from: number;
  readonly #stop = new AbortController();
  /** Objects as stored: they are converted when they are read. */
  readonly #queue = new Queue<WatchEvent<KubeJson>>();

  constructor(core: Core, scope: Scope) {
    this.#core = core;
    this.#scope = scope;
    this.#selection = select(scope);
    this.#from = Number(scope.query['resourceVersion'] ?? 0) || 0;
    this.#collection = core.store.collection(scope.type);
    if (this.#selection.name !== undefined) this.name = this.#selection.name;
  }

  /** Subscribes and queues what the client has to see first: all objects, or what changed since its resourceVersion. */
  start(): this {
    const { query } = this.#scope;
    const version = this.#from;
    const initial = version === 0 || query['sendInitialEvents'] === 'true';
    if (!initial && version < this.#collection.forgotten) return this.#tooOld(version);
    if (initial) listAll(this.#core, this.#scope).forEach((object) => this.#queue.push({ type: 'ADDED', object }));
    else this.#collection.since(version).forEach((change) => this.changed(change));
    if (query['sendInitialEvents'] === 'true') this.bookmark({ 'k8s.io/initial-events-end': 'true' });
    this.#collection.subscribe(this);
    if (query['allowWatchBookmarks'] === 'true') this.#core.bookmarks.add(this);
    void this.#endInTime(Number(query['timeoutSeconds'] ?? 0) * 1000);
    return this;
  }

  /** An object that enters the selection is added to this client's view, one that leaves it is deleted from it. */
  changed({ version, before, after, removed }: Change): void {
    if (version <= this.#from) return;
    const was = before !== undefined && this.#selection.matches(before);
    const is = !removed && this.#selection.matches(after);
    if (is) this.#queue.push({ type: was ? 'MODIFIED' : 'ADDED', object: after });
    else if (was) {
      const last = removed ? after : withMeta(before, { resourceVersion: String(version) });
      this.#queue.push({ type: 'DELETED', object: last });
    }
  }

  /** Tells the client how far it has seen, so that it can go on from there. */
  bookmark(annotations?: Readonly<Record<string, string>>): void {
    if (this.#scope.query['allowWatchBookmarks'] !== 'true') return;
    if (this.#core.store.version < this.#from) return;
    const { group, version, kind } = this.#scope.type;
    const metadata = {
      name: '',
      uid: '',
      resourceVersion: String(this.#core.store.version),
      ...(annotations && { annotations }),
    };
    const object = { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata };
    this.#queue.push({ type: 'BOOKMARK', object });
  }

  closed(): void {
    this.close();
  }

  close(): void {
    this.#collection.unsubscribe(this);
    this.#core.bookmarks.delete(this);
    this.#stop.abort(CLOSED);
    this.#queue.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent, void> {
    try {
      for await (const event of this.#queue) yield await this.#shown(event);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      yield { type: 'ERROR', object: statusBody(error.status) };
    } finally {
      this.close();
    }
  }

  async #shown({ type, object }: WatchEvent<KubeJson>): Promise<WatchEvent> {
    if (type === 'BOOKMARK' || type === 'ERROR') return { type, object };
    return { type, object: await oneInVersion(this.#core, this.#scope.type, object) };
  }

  #tooOld(version: number): this {
    const { status } = expired(`too old resource version: ${version} (${this.#collection.forgotten})`);
    this.#queue.push({ type: 'ERROR', object: statusBody(status) as KubeJson });
    this.#queue.end();
    return this;
  }

  async #endInTime(timeoutMs: number): Promise<void> {
    const timeout = timeoutMs || LEAST_TIMEOUT_MS * (1 + this.#core.random());
    await this.#core.clock.sleep(timeout, this.#stop.signal).catch(() => undefined);
    if (this.#stop.signal.aborted) return;
    this.bookmark();
    this.close();
  }
}
