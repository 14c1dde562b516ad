import { stat } from 'node:fs/promises';
import http from 'node:http';
import { DeadlineError, withDeadline } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import { readUpTo } from '../../../lib/http.ts';
import { HostUnreachableError } from '../errors.ts';
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
    try {
      return await withDeadline({ clock: this.#clock, ms: timeoutMs, signal }, (limited) =>
        this.#exchange(request, limited),
      );
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw new HostUnreachableError(`${request.method} ${request.path}`, await this.#codeOf(cause), { cause });
    }
  }

  async #codeOf(error: unknown): Promise<string> {
    if (error instanceof DeadlineError) return 'ETIMEDOUT';
    const { code = 'EPROTO' } = error as NodeJS.ErrnoException;
    return code === 'ECONNREFUSED' && (await isUnlinked(this.#path)) ? 'ESTALE' : code;
  }

  #exchange({ method, path, body }: HostRequest, signal: AbortSignal): Promise<HostResponse> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(signal.aborted ? signal.reason : error);
      const outgoing = http.request({
        socketPath: this.#path,
        agent: false,
        method,
        path,
        signal,
        ...(body !== undefined && { headers: { 'content-type': 'application/json' } }),
      });
      outgoing.on('error', fail);
      outgoing.on('response', (incoming) => {
        const { statusCode: status = 0 } = incoming;
        // The host sends a body with some of these, which HTTP does not allow: the answer is there before that fails.
        if (status === 204) resolve({ status, body: '' });
        readText(incoming).then((text) => resolve({ status, body: text }), fail);
      });
      outgoing.end(body);
    });
  }
}

/** A mounted socket file stays visible after it was removed from its folder. Its link count is then 0. */
async function isUnlinked(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file?.nlink === 0;
}

async function readText(incoming: http.IncomingMessage): Promise<string> {
  const body = await readUpTo(incoming, MAX_BODY_BYTES);
  if (body.length > MAX_BODY_BYTES) throw Object.assign(new Error('body too large'), { code: 'EMSGSIZE' });
  return body.toString('utf8');
}
