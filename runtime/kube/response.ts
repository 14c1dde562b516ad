import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readUpTo } from '../lib/http.ts';
import { jsonObject } from '../lib/json.ts';
import { ApiStatusError, apiStatusError, type KubeStatus, textError, UnreachableError } from './errors.ts';
import type { WatchEvent } from './transport.ts';

/** Reads answers and watch events. An error never quotes a body, which may hold secrets; only the message of a `Status` is taken over. */

/** The whole body as text. @throws Error above `maxBytes` */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const body = await readUpTo(unpacked(response), maxBytes);
  if (body.length > maxBytes) throw new Error(`the answer exceeds ${maxBytes} bytes`);
  return body.toString('utf8');
}

function unpacked(response: IncomingMessage): AsyncIterable<Buffer> {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // What fails on either side ends the other, and the reader gets the error.
  return pipeline(response, createGunzip(), () => undefined);
}

/** The error for an answer of 400 or above. */
export function statusError(call: string, response: IncomingMessage, body: string): ApiStatusError {
  const code = response.statusCode ?? 0;
  const status = kubeStatusIn(body);
  const seconds = Number(response.headers['retry-after']);
  const details = { ...(seconds > 0 && { retryAfterSeconds: seconds }), ...status?.details };
  const said = { ...status, code, ...(Object.keys(details).length > 0 && { details }) };
  if (status) return apiStatusError(call, said);
  return textError(call, { ...said, reason: response.statusMessage ?? '' }, body);
}

function kubeStatusIn(body: string): KubeStatus | undefined {
  const parsed = jsonObject(body) as { readonly kind?: unknown };
  return parsed.kind === 'Status' ? (parsed as unknown as KubeStatus) : undefined;
}

/** The events of a watch, which are JSON documents, one on each line. A chunk may end within a line. */
export async function* watchEvents(
  call: string,
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<WatchEvent> {
  for await (const line of lines(chunks, maxBytes)) {
    const event = JSON.parse(line) as WatchEvent;
    if (event.type === 'ERROR') throw apiStatusError(call, event.object as KubeStatus);
    yield event;
  }
}

async function* lines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > maxBytes) throw new Error(`an event exceeds ${maxBytes} bytes`);
    for (const line of parts) if (line.trim() !== '') yield line;
  }
  if (rest.trim() !== '') yield rest;
}

/** The error that callers get: every failure but an answer of the API server means that it was unreachable. */
export function translated(call: string, error: unknown): Error {
  if (error instanceof ApiStatusError || error instanceof UnreachableError) return error;
  return new UnreachableError(`${call}: ${summary(error)}`, { cause: error });
}

/** The system's code where there is one. The message of a parse error is left out because it quotes what was read. */
function summary(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is not JSON';
  if (!(error instanceof Error)) return 'failed';
  const { code } = error as { readonly code?: unknown };
  // A DOMException has a number for a code.
  return typeof code === 'string' ? code : error.message;
}
