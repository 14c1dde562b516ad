import { getOrInsert } from '../../runtime/lib/maps.ts';
import { apiStatusError, type KubeStatus, UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeWatch, WatchEvent } from '../../runtime/kube/transport.ts';
import type { ApiResponse, EventStream } from '../sim/cluster/api.ts';
import type { Timer } from './clock.ts';
import { once } from './lines.ts';
import type { CarriageOptions, Member } from './carriage.ts';
import { never } from './waiting.ts';

type WatchesOptions = Pick<CarriageOptions, 'time' | 'lines' | 'random'>;

type Ask = (query: Query) => Promise<ApiResponse>;
type Query = Readonly<Record<string, string>>;
/** Closed, told 410, or closed and served events again that it has had. */
export type How = 'closed' | 'expired' | 'replayed';

const INACTIVITY_MS = 180_000;
/** So many of the newest changes a server may send again that was behind the one before. */
const REPLAYED = 40;
const API = 'api';

/** By how much watches are late: those of one resource, or all. */
interface Lag {
  readonly ms: number;
  readonly resource: string | undefined;
}

/** What disturbs the watches of one process. */
interface Trouble {
  readonly lags: Lag[];
  mutes: number;
  /** What its next watch of a path meets. */
  readonly next: Map<string, How>;
  readonly open: Set<Line>;
  unmuted: (() => void)[];
}

interface Opening {
  readonly call: string;
  readonly path: string;
  readonly query: Query;
}

/** All watches of all processes. */
export class Watches {
  readonly #options: WatchesOptions;
  readonly #troubles = new Map<string, Trouble>();

  constructor(options: WatchesOptions) {
    this.#options = options;
  }

  /** @param resource only watches of this one, by its plural */
  lag(process: string, ms: number, resource?: string): () => void {
    const { lags } = this.#of(process);
    const lag = { ms, resource };
    lags.push(lag);
    return once(() => void lags.splice(lags.indexOf(lag), 1));
  }

  mute(process: string): () => void {
    const trouble = this.#of(process);
    trouble.mutes += 1;
    return once(() => {
      trouble.mutes -= 1;
      if (trouble.mutes > 0) return;
      for (const go of trouble.unmuted.splice(0)) go();
    });
  }

  drop(process: string, how: How): void {
    const { open, next } = this.#of(process);
    for (const line of open) {
      next.set(line.path, how);
      line.fail('ECONNRESET');
    }
  }

  /** @param ask opens the watch at the server */
  async *open(member: Member, watch: KubeWatch, ask: Ask): AsyncGenerator<WatchEvent> {
    const { path, query, signal, inactivityMs = INACTIVITY_MS, onOpen = () => undefined } = watch;
    if (member.life.isOver) await never();
    const call = `WATCH ${path}`;
    const trouble = this.#of(member.process.name);
    const asked = this.#met(trouble, { call, path, query: { ...query, watch: 'true' } });
    const response = await unlessGivenUp(ask(asked), signal);
    if (!response) return;
    if (!('stream' in response)) throw new UnreachableError(`${call}: the answer is no stream of events`);
    const ends = { member, path, call, inactivityMs, trouble, stream: response.stream, onOpen };
    const line = new Line({ ...this.#options, ...ends });
    const close = (): void => line.close();
    trouble.open.add(line);
    const leave = member.life.onOver(close);
    signal?.addEventListener('abort', close, { once: true });
    try {
      yield* line.events();
    } finally {
      leave();
      signal?.removeEventListener('abort', close);
      trouble.open.delete(line);
      line.close();
    }
  }

  /** What the server is asked for in the end. @throws GoneError */
  #met({ next }: Trouble, { call, path, query }: Opening): Opening['query'] {
    const how = next.get(path);
    next.delete(path);
    const { resourceVersion } = query;
    if (resourceVersion === undefined) return query;
    if (how === 'expired')
      throw apiStatusError(call, { code: 410, reason: 'Expired', message: 'too old resource version' });
    if (how !== 'replayed') return query;
    const back = 1 + Math.floor(this.#options.random() * REPLAYED);
    return { ...query, resourceVersion: String(Math.max(1, Number(resourceVersion) - back)) };
  }

  #of(process: string): Trouble {
    const made = (): Trouble => ({ lags: [], mutes: 0, next: new Map(), open: new Set(), unmuted: [] });
    return getOrInsert(this.#troubles, process, made);
  }
}

/** Undefined where its client has given up by then: who wants no more hears of no error. */
async function unlessGivenUp(
  answer: Promise<ApiResponse>,
  signal: AbortSignal | undefined,
): Promise<ApiResponse | undefined> {
  try {
    const response = await answer;
    if (!signal?.aborted) return response;
    if ('stream' in response) response.stream.close();
    return undefined;
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

interface LineOptions extends WatchesOptions {
  readonly member: Member;
  readonly path: string;
  readonly call: string;
  readonly inactivityMs: number;
  readonly trouble: Trouble;
  readonly stream: EventStream;
  /** Told when the head of the answer comes, which what is wrong with the line keeps back like any event. */
  readonly onOpen: () => void;
}

/** One watch on its way from the server to its client. */
class Line {
  readonly path: string;
  readonly #options: LineOptions;
  #events: WatchEvent[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;
  /** In the order in which they were sent; the first so many have come as far as what keeps them back. */
  readonly #underWay: (() => void)[] = [];
  #arrived = 0;
  /** When the newest of them comes. */
  #due = 0;
  #heardAt: number;
  #patience: Timer | undefined;

  constructor(options: LineOptions) {
    this.path = options.path;
    this.#options = options;
    this.#heardAt = options.time.monotonic();
    this.#watchOver();
    void this.#pump();
  }

  async *events(): AsyncGenerator<WatchEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event?.type === 'ERROR') throw apiStatusError(this.#options.call, event.object as KubeStatus);
      if (event) yield event;
      else if (this.#end?.error) throw this.#end.error;
      else if (this.#end) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The connection breaks. */
  fail(code: string): void {
    this.#finish({ error: new UnreachableError(`${this.#options.call}: ${code}`) });
  }

  /** The client wants no more. */
  close(): void {
    this.#events = [];
    this.#finish({});
  }

  #finish(end: { readonly error?: Error }): void {
    if (this.#end) return;
    this.#end = end;
    if (this.#patience) this.#options.time.cancel(this.#patience);
    this.#options.stream.close();
    this.#options.member.life.deliver(this.#wake);
  }

  async #pump(): Promise<void> {
    this.#send(this.#options.onOpen);
    for await (const event of this.#options.stream) this.#send(() => this.#events.push(event));
    this.#send(() => this.#finish({}));
  }

  /** Lets it arrive in its time, after all that was sent before. */
  #send(arrive: () => void): void {
    const { time, lines, member, trouble } = this.#options;
    const lag = trouble.lags.reduce((sum, one) => sum + (this.#isOf(one) ? one.ms : 0), 0);
    const now = time.monotonic();
    this.#due = Math.max(this.#due, now + lines.latency(API, member.process.name) + lag);
    this.#underWay.push(arrive);
    time.after(this.#due - now, () => {
      this.#arrived += 1;
      this.#pass();
    });
  }

  #isOf({ resource }: Lag): boolean {
    return resource === undefined || this.path.endsWith(`/${resource}`);
  }

  /** What has come so far, unless something keeps it back. */
  readonly #pass = (): void => {
    const { lines, member, trouble, time } = this.#options;
    const { name } = member.process;
    if (this.#end || this.#arrived === 0) return;
    if (lines.isCut(API, name)) return lines.onHealed(API, name, this.#pass);
    if (trouble.mutes > 0) return void trouble.unmuted.push(this.#pass);
    this.#heardAt = time.monotonic();
    const arrived = this.#underWay.splice(0, this.#arrived);
    this.#arrived = 0;
    member.life.deliver(() => {
      for (const arrive of arrived) arrive();
      this.#wake();
    });
  };

  /** A stream on which nothing comes is dead. */
  #watchOver(): void {
    const { time, inactivityMs, member } = this.#options;
    const left = this.#heardAt + inactivityMs - time.monotonic();
    this.#patience = time.after(left, () => {
      if (this.#heardAt + inactivityMs > time.monotonic()) this.#watchOver();
      else member.life.deliver(() => this.fail('silent for too long'));
    });
  }
}
