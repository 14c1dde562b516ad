import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundedJson } from '../../lib/json.ts';
import { RefusedError } from '../refusal.ts';

/**
 * The whole body.
 * @param keep told of the pieces as they come; throws to refuse them
 * @throws RefusedError 413 beyond `limit` bytes, 400 when it breaks off, and what `keep` throws
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  keep: (chunk: Buffer) => void = () => undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) break;
      keep(chunk);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    throw new RefusedError(400, 'BadRequest', `the body broke off after ${size} bytes`);
  }
  if (size > limit) throw new RefusedError(413, 'TooLarge', `the body is larger than ${limit} bytes`);
  return Buffer.concat(chunks);
}

/** The body as JSON. @throws RefusedError 400, 413 */
export async function readJson(request: IncomingMessage, limit: number): Promise<unknown> {
  const body = await readBody(request, limit);
  try {
    return boundedJson(body);
  } catch (error) {
    throw new RefusedError(400, 'BadRequest', `the body: ${(error as Error).message}`);
  }
}

const PIECE = 64 * 1024;

/**
 * Sends JSON in pieces, because TLS encrypts whatever it is given at once, and keeps it until the client reads. Resolves when the last
 * piece was handed over, or the client has gone.
 */
export async function writeJson(response: ServerResponse, body: Buffer): Promise<void> {
  response.writeHead(response.statusCode, { 'content-type': 'application/json', 'content-length': body.length });
  let at = 0;
  for (; at + PIECE < body.length && !response.destroyed; at += PIECE)
    if (!response.write(body.subarray(at, at + PIECE))) await drained(response);
  response.end(body.subarray(at));
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.once('drain', end).once('close', end);
  });
}
