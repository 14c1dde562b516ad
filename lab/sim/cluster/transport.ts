import { apiStatusError, type KubeStatus, textError, UnreachableError } from '../../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport, KubeWatch, WatchEvent } from '../../../runtime/kube/transport.ts';
import { unlessAborted, withDeadline } from '../../../runtime/lib/abort.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { ApiRequest, ApiResponse, EventStream, PlainResponse, UserInfo } from './api.ts';
import { overTheWire } from './object.ts';

type Handle = (request: ApiRequest, user: UserInfo) => Promise<ApiResponse>;

/** The cluster as a process sees it through its client, without a network in between. */
export class InProcessTransport implements KubeTransport {
  readonly #handle: Handle;
  readonly #user: UserInfo;
  readonly #clock: Clock;

  constructor(handle: Handle, { user, clock }: { readonly user: UserInfo; readonly clock: Clock }) {
    this.#handle = handle;
    this.#user = user;
    this.#clock = clock;
  }

  async request(asked: KubeRequest): Promise<unknown> {
    const { method, path, query, body, contentType, signal, timeoutMs = 30_000, onDate } = asked;
    const call = `${method} ${path}`;
    if (signal?.aborted === true) throw new UnreachableError(`${call}: aborted`, { cause: signal.reason });
    const headers = { accept: 'application/json', 'content-type': contentType ?? 'application/json' };
    const request = { method, path, headers, body: overTheWire(body), ...(query && { query }) };
    const handled = this.#handle(request, this.#user);
    const response = await this.#inTime(call, handled, { ms: timeoutMs, signal });
    onDate?.(Math.floor(this.#clock.now() / 1000) * 1000);
    return 'stream' in response ? refused(call, response.stream) : answer(call, response);
  }

  /** What the sender no longer waits for goes on all the same. */
  async #inTime<T>(call: string, work: Promise<T>, limit: { ms: number; signal: AbortSignal | undefined }): Promise<T> {
    try {
      return await withDeadline({ ...limit, clock: this.#clock }, (signal) => unlessAborted(work, signal));
    } catch (cause) {
      throw new UnreachableError(`${call}: ${cause instanceof Error ? cause.message : 'aborted'}`, { cause });
    }
  }

  async *watch({ path, query, signal, onOpen }: KubeWatch): AsyncGenerator<WatchEvent, void> {
    const call = `WATCH ${path}`;
    if (isOver(signal)) return;
    const request = {
      method: 'GET',
      path,
      query: { ...query, watch: 'true' },
      headers: { accept: 'application/json' },
    };
    const response = await this.#handle(request, this.#user);
    if (!('stream' in response)) {
      answer(call, response);
      throw new UnreachableError(`${call}: the answer is no stream of events`);
    }
    const { stream } = response;
    if (isOver(signal)) {
      stream.close();
      return;
    }
    const close = (): void => stream.close();
    signal?.addEventListener('abort', close, { once: true });
    onOpen?.();
    try {
      yield* until(signal, stream);
    } finally {
      signal?.removeEventListener('abort', close);
    }
  }
}

const isOver = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** What was under way when the signal aborted is not delivered any more. */
async function* until(signal: AbortSignal | undefined, stream: EventStream): AsyncGenerator<WatchEvent, void> {
  for await (const event of stream) {
    if (isOver(signal)) return;
    yield event;
  }
}

function answer(call: string, response: PlainResponse): unknown {
  if (response.status < 400) return response.body;
  throw refusal(call, response);
}

/** What a client makes of an answer of 400 or above. */
export function refusal(call: string, { status, body, headers }: PlainResponse): Error {
  if (typeof body !== 'string') return apiStatusError(call, body as KubeStatus);
  const seconds = headers?.['retry-after'];
  const details = seconds === undefined ? {} : { details: { retryAfterSeconds: Number(seconds) } };
  return textError(call, { code: status, reason: 'Not Found', ...details }, body);
}

function refused(call: string, stream: EventStream): never {
  stream.close();
  throw new UnreachableError(`${call}: a watch has to be asked for as one`);
}
