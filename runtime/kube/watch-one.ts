import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { queryOf } from './collection.ts';
import { type Change, listAndWatch } from './reflector.ts';
import type { KubeObject } from './objects.ts';
import type { KubeTransport } from './transport.ts';

interface WatchOneOptions<T> {
  /** Path of the object's collection. */
  readonly path: string;
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the iteration. */
  readonly signal: AbortSignal;
  /** Called for each outage of the API, which is then waited out. */
  readonly onInterrupted?: (error: unknown, retryMs: number) => void;
  /** resourceVersion of the object as the caller knows it, which is not yielded then. @default what there is, is yielded first */
  readonly from?: string;
  /** What is kept of the object. @default all of it */
  readonly project?: (object: T) => T;
}

/**
 * Yields one object each time it changes, and undefined while it does not exist. A consumer that was busy gets only the newest state.
 * Outages of the API are waited out.
 */
export async function* watchOne<T extends KubeObject>(
  transport: KubeTransport,
  options: WatchOneOptions<T>,
): AsyncGenerator<T | undefined, void, void> {
  const { path, name, clock, random, onInterrupted, from, project = (object) => object } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const query = queryOf({ fieldSelector: `metadata.name=${name}` });
  const newest = new Newest<T | undefined>();
  const pump = async (): Promise<void> => {
    const changes = listAndWatch<T, T>({ transport, path, query, project, clock, random, from }, signal);
    for await (const change of changes) {
      if (change.kind === 'interrupted') onInterrupted?.(change.error, change.retryMs);
      else receive(change, newest);
    }
    newest.end();
  };
  const pumping = pump();
  try {
    for (let next = await newest.take(); next; next = await newest.take()) yield next.value;
  } finally {
    stop.abort();
    await pumping;
  }
}

function receive<T>(change: Change<T>, newest: Newest<T | undefined>): void {
  if (change.kind === 'replaced') newest.put(change.items[0]?.value);
  if (change.kind === 'changed') newest.put(change.item.value);
  if (change.kind === 'deleted') newest.put(undefined);
}

/** Holds one value: a new one replaces one that was not taken yet. */
class Newest<T> {
  #box: { readonly value: T } | undefined;
  #ended = false;
  #wake = (): void => undefined;

  put(value: T): void {
    this.#box = { value };
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Waits for a value; undefined once ended and empty. One taker at a time. */
  async take(): Promise<{ readonly value: T } | undefined> {
    if (!this.#box && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    const taken = this.#box;
    this.#box = undefined;
    return taken;
  }
}
