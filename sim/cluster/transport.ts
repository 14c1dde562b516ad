import { apiStatusError, type KubeStatus, UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport, KubeWatch, WatchEvent } from '../../runtime/kube/transport.ts';
import type { ApiRequest, ApiResponse, EventStream, UserInfo } from './api.ts';
import { overTheWire } from './object.ts';

type Handle = (request: ApiRequest, user: UserInfo) => Promise<ApiResponse>;

/** The cluster as a process sees it through its client, without a network in between. */
export class InProcessTransport implements KubeTransport {
  readonly #handle: Handle;
  readonly #user: UserInfo;

  constructor(handle: Handle, user: UserInfo) {
    this.#handle = handle;
    this.#user = user;
  }

  async request({ method, path, query, body, contentType, signal }: KubeRequest): Promise<unknown> {
    const call = `${method} ${path}`;
    if (signal?.aborted === true) throw new UnreachableError(`${call}: aborted`, { cause: signal.reason });
    const headers = { accept: 'application/json', 'content-type': contentType ?? 'application/json' };
    const request = { method, path, headers, body: overTheWire(body), ...(query && { query }) };
    const response = await this.#handle(request, this.#user);
    return 'stream' in response ? refused(call, response.stream) : answer(call, response);
  }

  async *watch({ path, query, signal }: KubeWatch): AsyncGenerator<WatchEvent, void> {
    const call = `WATCH ${path}`;
    if (signal?.aborted === true) return;
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
    const close = (): void => stream.close();
    signal?.addEventListener('abort', close, { once: true });
    try {
      yield* until(signal, stream);
    } finally {
      signal?.removeEventListener('abort', close);
    }
  }
}

/** What was under way when the signal aborted is not delivered any more. */
async function* until(signal: AbortSignal | undefined, stream: EventStream): AsyncGenerator<WatchEvent, void> {
  for await (const event of stream) {
    if (signal?.aborted === true) return;
    yield event;
  }
}

function answer(call: string, { status, body }: { status: number; body: unknown }): unknown {
  if (status < 400) return body;
  throw apiStatusError(call, body as KubeStatus);
}

function refused(call: string, stream: EventStream): never {
  stream.close();
  throw new UnreachableError(`${call}: a watch has to be asked for as one`);
}
