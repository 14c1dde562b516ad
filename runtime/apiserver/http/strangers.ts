import type { Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../lib/log.ts';
import type { Metrics } from '../metrics.ts';
import type { Refusal } from '../protocol.ts';
import { RefusedError } from '../refusal.ts';

/** Answers and counts what ends before there is a request that a route could refuse. */
export type RefuseStrangers = (server: Pick<Server, 'on'>) => void;

/** Handshakes that fail, connections beyond the most, and headers or bodies that Node's parser and its timeouts do not take. */
export function refuseStrangers({
  metrics,
  logger,
}: {
  readonly metrics: Metrics;
  readonly logger: Logger;
}): RefuseStrangers {
  const note = ({ status, reason, message }: RefusedError): void => {
    metrics.refusals.inc({ reason });
    logger.info('connection refused', { status, reason, error: message });
  };
  return (server) => {
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      const { code = '' } = error;
      // Who has gone waits for no answer, which is no refusal either.
      if (code === 'ECONNRESET' || !socket.writable) {
        socket.destroy();
        return;
      }
      const refusal = refusalOf(code);
      note(refusal);
      if (refusal.reason === 'Handshake') socket.destroy();
      else socket.end(answer(refusal));
    });
    server.on('drop', () => note(new RefusedError(503, 'Busy', 'as many connections as memory allows are open')));
  };
}

/** What is not of Node's parser or its timeouts is of TLS: a server of node:https tells its errors here as well. */
function refusalOf(code: string): RefusedError {
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
  const body = JSON.stringify({ error: message, reason } satisfies Refusal);
  const head = [
    `HTTP/1.1 ${status} ${PHRASES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
