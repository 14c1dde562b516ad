import { isUtf8 } from 'node:buffer';
import { convertShadow } from '../shadow/convert.ts';

const API_VERSION = 'apiextensions.k8s.io/v1';
/**
 * JSON of nothing but brackets takes a hundred times its size once it is parsed: four megabytes of it do not fit into memory. No real
 * object holds this many values. Most values of an object are in its `managedFields`, which take four bytes a value and two megabytes at
 * most.
 */
const MAX_VALUES = 500_000;
/** A request of the API server states its uid within this many characters, before its objects. */
export const HEAD_LENGTH = 1024;

export interface ConversionReview {
  readonly apiVersion: string;
  readonly kind: 'ConversionReview';
  readonly response: {
    /** The request's own, or empty where it had none. */
    readonly uid: string;
    readonly convertedObjects: readonly unknown[];
    readonly result: { readonly status: 'Success' } | { readonly status: 'Failed'; readonly message: string };
  };
}

/**
 * Answers a ConversionReview. Never throws: whatever comes in, a review goes out, because the API server can show its message to whoever
 * asked and would otherwise report a broken webhook.
 * @param body the request as parsed JSON, or anything else
 */
export function convert(body: unknown): ConversionReview {
  const request = field(body, 'request');
  try {
    return review(request, { status: 'Success' }, convertAll(request));
  } catch (error) {
    return failed(request, error);
  }
}

/** The same for a request as bytes. One that is not JSON in UTF-8 fails the review too, and so does one whose answer cannot be written. */
export function convertBytes(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, HEAD_LENGTH);
  // Lossy decoding would store characters that nobody has written.
  if (!isUtf8(bytes)) return unreadText(head, 'expected UTF-8');
  if (mayHoldMore(bytes, MAX_VALUES)) return unreadText(head, `expected at most ${MAX_VALUES} values`);
  const body = parsed(bytes.toString('utf8'));
  if (body === undefined) return unreadText(head, 'expected JSON');
  try {
    return JSON.stringify(convert(body));
  } catch (error) {
    // JSON.parse is iterative and JSON.stringify is not: thousands of nested brackets can be read but not written.
    return JSON.stringify(failed(field(body, 'request'), error));
  }
}

/**
 * The answer to a request that is not parsed, mostly for its size. It repeats the request's uid, without which the API server shows no message.
 * @param start the request's text, or the beginning of it
 */
export function unreadText(start: string, message: string): string {
  const [head] = start.slice(0, HEAD_LENGTH).split('"objects"');
  const uid = /"uid"\s*:\s*"([\w-]{1,128})"/.exec(head ?? '')?.[1];
  return JSON.stringify(failed({ uid }, new Error(message)));
}

const [COMMA, BRACKET, BRACE] = Buffer.from(',[{');

/**
 * Whether the JSON may hold more than `values` values. One of these signs stands before each value, or before its name. Signs within texts
 * count too, so the answer may be a false yes.
 */
function mayHoldMore(bytes: Buffer, values: number): boolean {
  let signs = 0;
  for (const byte of bytes) {
    if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++signs > values) return true;
  }
  return false;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(request: unknown, error: unknown): ConversionReview {
  return review(request, { status: 'Failed', message: error instanceof Error ? error.message : 'unknown fault' });
}

function review(
  request: unknown,
  result: ConversionReview['response']['result'],
  convertedObjects: readonly unknown[] = [],
): ConversionReview {
  const uid = field(request, 'uid');
  const response = { uid: typeof uid === 'string' ? uid : '', convertedObjects, result };
  return { apiVersion: API_VERSION, kind: 'ConversionReview', response };
}

function convertAll(request: unknown): readonly unknown[] {
  const objects = field(request, 'objects');
  const desired = field(request, 'desiredAPIVersion');
  if (typeof field(request, 'uid') !== 'string') throw new Error('request.uid: expected a text');
  if (!Array.isArray(objects)) throw new Error('request.objects: expected a list');
  if (typeof desired !== 'string') throw new Error('request.desiredAPIVersion: expected a text');
  return objects.map((object, index) => {
    try {
      return convertShadow(object, desired);
    } catch (error) {
      throw new Error(`request.objects[${index}]: ${error instanceof Error ? error.message : 'unknown fault'}`, {
        cause: error,
      });
    }
  });
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
