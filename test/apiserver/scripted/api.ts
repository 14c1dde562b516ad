import { expect } from '@jest/globals';
import { overTheWire } from '../../../sim/cluster/object.ts';
import type { KubeRequest, KubeTransport, KubeWatch, WatchEvent } from '../../../runtime/kube/transport.ts';

/** A call that has to come, and what comes back. */
export interface Call {
  /** e.g. `GET /api/v1/nodes/n1`, or `WATCH` and the path of a collection. */
  readonly line: string;
  /** What its query and its body have to hold at least; a precondition is part of the body. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** What its body is, no more and no less. */
  readonly exactly?: object;
  /** An Error is thrown; a promise may never settle. Of a watch, it is the events to begin with. */
  readonly answer: unknown;
}

type Came = Pick<Call, 'line' | 'query' | 'body'>;

/** Calls that may come in any order. */
export type AnyOrder = readonly Call[];

/**
 * A Kubernetes API that has a script: it answers the calls that are listed, in their order and only with what they have to hold. Any other
 * call fails at once, and so does the test at its end, for a call that was not listed as for one that was and did not come.
 */
export class ScriptedApi implements KubeTransport {
  readonly #script: Call[][] = [];
  readonly #faults: unknown[] = [];
  readonly #open = new Set<Stream>();

  expects(...calls: readonly (Call | AnyOrder)[]): void {
    for (const call of calls) this.#script.push(isGroup(call) ? [...call] : [call]);
  }

  async request(request: KubeRequest): Promise<unknown> {
    const { method, path, query, body } = request;
    const answer = await this.#take({ line: `${method} ${path}`, ...(query && { query }), ...(body ? { body } : {}) });
    if (answer instanceof Error) throw answer;
    return overTheWire(answer);
  }

  async *watch({ path, query, signal }: KubeWatch): AsyncGenerator<WatchEvent> {
    const answer = await this.#take({ line: `WATCH ${path}`, ...(query && { query }) });
    if (answer instanceof Error) throw answer;
    const stream = new Stream(path, answer as readonly WatchEvent[]);
    this.#open.add(stream);
    signal?.addEventListener('abort', () => stream.end(), { once: true });
    yield* stream.events();
    this.#open.delete(stream);
  }

  /** Tells those who watch the collection. */
  tell(path: string, event: WatchEvent): void {
    for (const stream of this.#open) if (stream.path === path) stream.put(event);
  }

  /** @throws what went wrong first, else Error naming the calls that did not come */
  end(): void {
    if (this.#faults.length > 0) throw this.#faults[0];
    expect(this.#script.flat().map(({ line }) => line)).toEqual([]);
  }

  /** The answer to a call, which must be among the next ones of the script. */
  #take(came: Came): unknown {
    const next = this.#script[0] ?? [];
    const index = Math.max(
      0,
      next.findIndex((call) => matches(came, call)),
    );
    try {
      const { answer, exactly, ...expected }: Call = next[index] ?? { line: 'nothing more', answer: undefined };
      expect(came).toMatchObject(expected);
      if (exactly) expect(came.body).toEqual(exactly);
      next.splice(index, 1);
      if (next.length === 0) this.#script.shift();
      return answer;
    } catch (fault) {
      this.#faults.push(fault);
      throw fault;
    }
  }
}

function isGroup(call: Call | AnyOrder): call is AnyOrder {
  return Array.isArray(call);
}

function matches(came: Came, { line, query = {}, body = {} }: Call): boolean {
  try {
    expect({ query: {}, body: {}, ...came }).toMatchObject({ line, query, body });
    return true;
  } catch {
    return false;
  }
}

/** What a watch has still to say. */
class Stream {
  readonly path: string;
  readonly #events: WatchEvent[];
  #ended = false;
  #wake = (): void => undefined;

  constructor(path: string, events: readonly WatchEvent[]) {
    this.path = path;
    this.#events = [...events];
  }

  put(event: WatchEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *events(): AsyncGenerator<WatchEvent> {
    while (!this.#ended) {
      for (let event = this.#events.shift(); event; event = this.#events.shift()) yield event;
      if (!this.#ended && this.#events.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
