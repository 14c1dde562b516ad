import type { IncomingMessage } from 'node:http';
import { ApiStatusError, apiStatusError, type KubeStatus, UnexpectedAnswerError, UnreachableError } from './errors.ts';
import type { WatchEvent } from './transport.ts';

/** How bytes become answers and events. Nothing of a body ever gets into an error, save the message of a proper `Status`. */

/** The whole body as text. @throws Error above `maxBytes` */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The refusal that an answer of 400 or above stands for. */
export function refusal(call: string, response: IncomingMessage, body: string): ApiStatusError {
  const code = response.statusCode ?? 0;
  const status = parseStatus(body);
  const seconds = Number(response.headers['retry-after']);
  const details = { ...(seconds > 0 && { retryAfterSeconds: seconds }), ...status?.details };
  const said = { ...status, code, ...(Object.keys(details).length > 0 && { details }) };
  if (status) return apiStatusError(call, said);
  return new UnexpectedAnswerError(call, { ...said, reason: response.statusMessage ?? '' });
}

function parseStatus(body: string): KubeStatus | undefined {
  try {
    const parsed = JSON.parse(body) as { readonly kind?: unknown } | null;
    return parsed?.kind === 'Status' ? (parsed as unknown as KubeStatus) : undefined;
  } catch {
    return undefined;
  }
}

/** The events of a watch: one JSON document a line, lines cut anywhere by the chunks they arrive in. */
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

/** Anything but an answer of the API server is no answer. */
export function translated(call: string, error: unknown): Error {
  if (error instanceof ApiStatusError || error instanceof UnreachableError) return error;
  return new UnreachableError(`${call}: ${summary(error)}`, { cause: error });
}

/** The system's code where there is one; parse errors quote what they read, so they are named only. */
function summary(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is not JSON';
  if (!(error instanceof Error)) return 'failed';
  const { code } = error as { readonly code?: unknown };
  // A DOMException's is a number.
  return typeof code === 'string' ? code : error.message;
}
