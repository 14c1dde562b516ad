import type { IncomingMessage } from 'node:http';
import { RefusedError } from '../refusal.ts';

/**
 * The whole body as text.
 * @param keep told of the pieces as they come; throws to refuse them
 * @throws RefusedError 413 beyond `limit` bytes, 400 when it breaks off, and what `keep` throws
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  keep: (chunk: Buffer) => void = () => undefined,
): Promise<string> {
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
  return Buffer.concat(chunks).toString('utf8');
}

/** The body as JSON. @throws RefusedError 400, 413 */
export async function readJson(request: IncomingMessage, limit: number): Promise<unknown> {
  const text = await readBody(request, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusedError(400, 'BadRequest', 'the body is not JSON');
  }
}
