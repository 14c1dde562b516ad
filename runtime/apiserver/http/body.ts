import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { boundedJson } from '../../lib/json.ts';
import { RefusedError } from '../refusal.ts';
import { keep } from './memory.ts';

/**
 * The whole body.
 * @param note told of the pieces as they come
 * @throws RefusedError 413 beyond `limit` bytes, 400 when it breaks off, 503 where it has to make way for others
 */
export async function readBody(
  context: Context,
  limit: number,
  note: (chunk: Buffer) => void = () => undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of context.req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) break;
      keep(context, chunk.length);
      note(chunk);
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
export async function readJson(context: Context, limit: number): Promise<unknown> {
  const body = await readBody(context, limit);
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
