import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RefusalBody } from '../../api/agent/protocol.ts';
import { FairLimiter } from '../../lib/fair-limiter.ts';
import { boundConnections } from '../../lib/http.ts';
import { RefusedError } from '../refusal.ts';
import type { RefusalLog } from './refusal-log.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** How long a client that reads nothing keeps its connection after it was refused, milliseconds. */
const LINGER_MS = 5_000;

/**
 * Refuses what fails before a route sees a request: failed handshakes, connections above the limit, headers and bodies that Node's parser
 * or its timeouts reject, and requests out of turn.
 */
export class ConnectionGuard {
  readonly #refusals: RefusalLog;
  /** The exchange that each connection is at. */
  readonly #exchanges = new WeakMap<Socket, Exchange>();
  readonly #turns = new FairLimiter<Socket>({ max: Infinity, maxPerParty: 1, maxWaiting: 1, busy: () => OUT_OF_TURN });

  constructor(refusals: RefusalLog) {
    this.#refusals = refusals;
  }

  /**
   * Handles one request of a connection at a time, and the next once the answer to the one before has been sent: while it waits to be read it
   * takes memory, as do requests that Node reads meanwhile. So a connection whose client does not wait for answers is closed. None of our
   * clients sends like that.
   */
  inTurn(handle: Handle): Handle {
    return async (request, response) => {
      const { socket } = request;
      const sent = new Promise<void>((resolve) => response.once('close', resolve));
      try {
        await this.#turns.run(socket, async () => {
          if (socket.destroyed) return;
          this.#exchanges.set(socket, { request, response });
          await handle(request, response);
          await sent;
          // A connection may be idle for long, and would keep its last request and answer in memory.
          if (request.complete) this.#exchanges.delete(socket);
        });
      } catch (error) {
        if (error !== OUT_OF_TURN) throw error;
        this.#cutOff(socket);
      }
    };
  }

  /** Answers and counts what comes to the server and is no request. */
  watch(server: Server, maxConnections: number): void {
    server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Duplex) => {
      // A client that has gone waits for no answer, so nothing is refused.
      if (code === 'ECONNRESET') socket.destroy();
      else this.#refuse(socket as Socket, connectionRefusal(code));
    });
    boundConnections(server, maxConnections, () => this.#refusals.note('connection refused', FULL));
  }

  /** At once: while an answer waits to be read, Node would go on to read requests. */
  #cutOff(socket: Socket): void {
    if (socket.destroyed) return;
    this.#refusals.note('connection refused', OUT_OF_TURN);
    socket.destroy();
  }

  #refuse(socket: Socket, refusal: RefusedError): void {
    // The client is already being told. This error is about what else it has sent.
    if (socket.writableEnded) return;
    if (!socket.writable) return void socket.destroy();
    this.#refusals.note('connection refused', refusal);
    if (refusal.reason === 'Handshake' || this.#hasBegun(socket)) return void socket.destroy();
    // Node goes on reading until the end, and keeps what it reads.
    socket.end(answer(refusal), () => socket.destroy());
    socket.setTimeout(LINGER_MS);
  }

  /** Whether a part of the answer was already sent. Anything written now would be taken for the rest of it. */
  #hasBegun(socket: Socket): boolean {
    const { request, response } = this.#exchanges.get(socket) ?? {};
    const isOver = request?.complete && response?.writableEnded;
    return response?.headersSent === true && !isOver;
  }
}

const FULL = new RefusedError(503, 'Busy', 'as many connections as memory allows are open');
const OUT_OF_TURN = new RefusedError(429, 'TooManyRequests', 'a request came before the one before it was answered');

/** Errors that are not from Node's parser or its timeouts are TLS errors, which a server of node:https reports here too. */
function connectionRefusal(code: string): RefusedError {
  if (code === 'HPE_HEADER_OVERFLOW') return new RefusedError(431, 'TooLarge', 'the headers are too large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new RefusedError(408, 'TooSlow', 'the request took too long to come');
  if (/^(HPE|ERR_HTTP)_/.test(code))
    return new RefusedError(400, 'BadRequest', 'the request is not HTTP as it should be');
  return new RefusedError(400, 'Handshake', 'TLS failed');
}

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function answer({ status, reason, message }: RefusedError): string {
  const body = JSON.stringify({ error: message, reason } satisfies RefusalBody);
  const head = [
    `HTTP/1.1 ${status} ${PHRASES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
