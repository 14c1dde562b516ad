import { HostUnreachableError } from '../../../runtime/agent/hosts/errors.ts';
import type { HostRequest, HostResponse, HostTransport } from '../../../runtime/agent/hosts/bottlerocket/calls.ts';
import { childAbort } from '../../../runtime/lib/abort.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { HostAnswer } from './answer.ts';
import type { SimulatedHost } from './host.ts';

export interface InProcessOptions {
  readonly host: SimulatedHost;
  readonly clock: Clock;
  /** As through a mount of the socket file itself: dead for ever once the host's API server has made a new one. @default false */
  readonly pinned?: boolean;
}

/** Nobody sees it. */
const ANSWERED = new Error('answered');

/** A way to a simulated host without a socket, on any clock; fails like a socket. */
export class InProcessHostTransport implements HostTransport {
  readonly #options: InProcessOptions;
  readonly #generation: number;
  constructor(options: InProcessOptions) {
    this.#options = options;
    this.#generation = options.host.socketGeneration;
  }

  async request(request: HostRequest): Promise<HostResponse> {
    const { host, clock, pinned } = this.#options;
    const { method, path, body, timeoutMs, signal } = request;
    signal?.throwIfAborted();
    const call = `${method} ${path}`;
    if (pinned && host.socketGeneration !== this.#generation) throw new HostUnreachableError(call, 'ESTALE');
    if (!host.listening) throw new HostUnreachableError(call, 'ECONNREFUSED');
    if (host.denied) throw new HostUnreachableError(call, 'EACCES');
    const answered = childAbort(signal);
    const timeout = clock.sleep(timeoutMs, answered.signal).then((): never => {
      throw new HostUnreachableError(call, 'ETIMEDOUT');
    });
    try {
      const answer = await Promise.race([host.handle({ method, path, body }), timeout]);
      return received(call, answer.kind === 'never' ? await timeout : answer);
    } finally {
      answered.release();
      answered.abort(ANSWERED);
      timeout.catch(() => undefined);
    }
  }
}

function received(call: string, answer: HostAnswer): HostResponse {
  if (answer.kind !== 'answer') throw new HostUnreachableError(call, 'ECONNRESET');
  return { status: answer.status, body: answer.body };
}
