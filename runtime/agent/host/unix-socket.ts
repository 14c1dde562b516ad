import { stat } from 'node:fs/promises';
import http from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { HostUnreachableError } from './errors.ts';
import type { HostRequest, HostResponse, HostTransport } from './calls.ts';

/** A status has a few KiB. A body of more than this does not come from the host's API. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * The host's API on its unix socket. Each request has a connection of its own: the host closes idle connections after 5 s, and a request
 * on one that is being closed could not be told from a request that was lost in a reboot.
 */
export class UnixSocketTransport implements HostTransport {
  readonly #path: string;
  readonly #clock: Clock;
  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  async request(request: HostRequest): Promise<HostResponse> {
    const { signal, timeoutMs } = request;
    signal?.throwIfAborted();
    const call = `${request.method} ${request.path}`;
    const over = new AbortController();
    const abort = (): void => over.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const timeout = this.#clock.sleep(timeoutMs, over.signal).then(
      () => over.abort(new HostUnreachableError(call, 'ETIMEDOUT')),
      () => undefined,
    );
    try {
      return await this.#exchange(request, over.signal);
    } catch (cause) {
      if (over.signal.aborted) throw over.signal.reason;
      const { code = 'EPROTO' } = cause as NodeJS.ErrnoException;
      const isStale = code === 'ECONNREFUSED' && (await isUnlinked(this.#path));
      throw new HostUnreachableError(call, isStale ? 'ESTALE' : code, { cause });
    } finally {
      signal?.removeEventListener('abort', abort);
      over.abort();
      await timeout;
    }
  }

  #exchange({ method, path, body }: HostRequest, signal: AbortSignal): Promise<HostResponse> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const outgoing = http.request({ socketPath: this.#path, agent: false, method, path, headers, signal });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        readAll(incoming).then((text) => resolve({ status: incoming.statusCode ?? 0, body: text }), reject);
      });
      outgoing.end(body);
    });
  }
}

/** Through a mount of a file itself, one sees the file also when no folder has it any more. */
async function isUnlinked(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file?.nlink === 0;
}

async function readAll(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw Object.assign(new Error('body too large'), { code: 'EMSGSIZE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
