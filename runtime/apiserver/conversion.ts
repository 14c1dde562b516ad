import { boundedJson, JsonError } from '../lib/json.ts';
import { convertShadow } from '../api/shadow/convert.ts';

const API_VERSION = 'apiextensions.k8s.io/v1';
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

/** The same for a request as bytes. One that is not JSON within bounds fails the review too. */
export function convertBytes(bytes: Buffer): string {
  try {
    return JSON.stringify(convert(boundedJson(bytes)));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return unreadText(bytes.toString('latin1', 0, HEAD_LENGTH), error.message);
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
