import { HEADERS } from '../../api/agent/protocol.ts';
import { RefusedError } from '../refusal.ts';

/** What a request says of itself; nothing of it is believed before the token has been reviewed. */
export interface Credentials {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly token: string;
  readonly bootId: string | null;
}

/** Headers by lower-case name, each with every value that was sent (`IncomingMessage.headersDistinct`). */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

const UUID_LIKE = /^[\w-]{1,64}$/;

/** @throws RefusedError 400 for a header that is missing, repeated or malformed; 401 where it is the token */
export function readCredentials(headers: DistinctHeaders): Credentials {
  const token = single(headers, HEADERS.token);
  if (!token) throw new RefusedError(401, 'Unauthorized', `expected the header ${HEADERS.token}`);
  return {
    token,
    nodeName: requiredHeader(headers, HEADERS.nodeName, /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/),
    nodeUid: requiredHeader(headers, HEADERS.nodeUid, UUID_LIKE),
    bootId: optionalHeader(headers, HEADERS.bootId, UUID_LIKE) ?? null,
  };
}

/** The value of an optional header. @throws RefusedError 400 when it is repeated or malformed */
export function optionalHeader(headers: DistinctHeaders, name: string, pattern: RegExp): string | undefined {
  const value = single(headers, name);
  if (value === undefined || pattern.test(value)) return value;
  throw new RefusedError(400, 'BadRequest', `the header ${name} is malformed`);
}

function requiredHeader(headers: DistinctHeaders, name: string, pattern: RegExp): string {
  const value = optionalHeader(headers, name, pattern);
  if (value === undefined) throw new RefusedError(400, 'BadRequest', `expected the header ${name}`);
  return value;
}

/** A repeated header is refused: two parties on the way could read two different values. */
function single(headers: DistinctHeaders, name: string): string | undefined {
  const values = headers[name.toLowerCase()] ?? [];
  if (values.length > 1) throw new RefusedError(400, 'BadRequest', `the header ${name} is repeated`);
  return values[0];
}
