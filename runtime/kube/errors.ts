import { shortened } from '../lib/parts.ts';

/** The `Status` object with which the API server answers a refusal (the fields that decisions rest on). */
export interface KubeStatus {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/** The API server answered, and the answer was an error. */
export class ApiStatusError extends Error {
  override readonly name: string = 'ApiStatusError';
  readonly status: KubeStatus;
  /** e.g. `PATCH /api/v1/nodes/n1`; never holds a query, a header or a body. */
  readonly call: string;
  constructor(call: string, status: KubeStatus) {
    super(`${call}: ${status.code} ${status.reason ?? ''}: ${status.message ?? 'no message'}`);
    this.call = call;
    this.status = status;
  }
}

/**
 * An answer without a `Status`: a proxy's own page, or the plain text for a path that is not served. It proves nothing about
 * an object, and whether a write took effect is unknown.
 */
export class UnexpectedAnswerError extends ApiStatusError {
  override readonly name = 'UnexpectedAnswerError';
}

/**
 * 429 of an API server that was too busy to look at the request, so nothing was carried out, and the same may succeed in a moment. The 429 of
 * a PodDisruptionBudget or a webhook is about what was asked for, and is none of these.
 */
export class BusyError extends ApiStatusError {
  override readonly name = 'BusyError';
}

/** 403 of the authorizer: we lack the right, whatever the object says. A role can come back. Admission's 403 is about the object. */
export class MissingPermissionError extends ApiStatusError {
  override readonly name = 'MissingPermissionError';
}

/** 404. */
export class NotFoundError extends ApiStatusError {
  override readonly name = 'NotFoundError';
}

/** 409: the object changed since it was read, or exists already (`status.reason` AlreadyExists). */
export class ConflictError extends ApiStatusError {
  override readonly name = 'ConflictError';
}

/** Whether the object has changed, or is gone, since the write was decided on. */
export const hasChanged = (error: unknown): boolean => error instanceof ConflictError || error instanceof NotFoundError;

/** 410: the resourceVersion or the continue token is too old; list again. */
export class GoneError extends ApiStatusError {
  override readonly name = 'GoneError';
}

/** No answer: refused, reset, timed out, aborted half-way. Whether a write took effect is unknown. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  /** Whether nobody listens at the address, so that nothing was sent and no write has taken effect. */
  get isUnsent(): boolean {
    return (this.cause as { readonly code?: unknown } | undefined)?.code === 'ECONNREFUSED';
  }
}

const BY_CODE: Readonly<Record<number, new (call: string, status: KubeStatus) => ApiStatusError>> = {
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
};

/** The authorizer's words. Those of admission name a webhook, a policy or a plugin in this place. */
const AUTHORIZER = /^\S+(?: "[^"]*")? is forbidden: User "[^"]*" cannot \S+ resource "/;

/** The error class for a refusal. */
export function apiStatusError(call: string, status: KubeStatus): ApiStatusError {
  if (isBusy(status)) return new BusyError(call, status);
  if (status.code === 403 && AUTHORIZER.test(status.message ?? '')) return new MissingPermissionError(call, status);
  return new (BY_CODE[status.code] ?? ApiStatusError)(call, status);
}

/** A budget gives causes, and a webhook is named. */
function isBusy({ code, reason, message = '', details }: KubeStatus): boolean {
  const isAnswer = (details?.causes ?? []).length > 0 || message.startsWith('admission webhook "');
  return code === 429 && reason === 'TooManyRequests' && !isAnswer;
}

/**
 * What priority and fairness, the filter of most requests in flight, and an API server that shuts down answer in plain text before anything looks
 * at the request.
 */
const TURNED_AWAY: ReadonlySet<string> = new Set([
  'Too many requests, please try again later.',
  'The apiserver is shutting down, please try again later.',
]);

/** The error for an answer of 400 or above that has no `Status`. @param status what its head says */
export function textError(call: string, status: KubeStatus, text: string): ApiStatusError {
  const message = text.trim();
  if (status.code !== 429 || !TURNED_AWAY.has(message)) return new UnexpectedAnswerError(call, status);
  return new BusyError(call, { ...status, reason: 'TooManyRequests', message });
}

/** Statuses of a server or proxy that gave up waiting. The request may still be under way. */
const GIVEN_UP = new Set([408, 499]);

/** Whether the API server itself refused a write with a 4xx, so that nothing was written and nothing will be. */
export function isDefinite(error: unknown): error is ApiStatusError {
  if (!(error instanceof ApiStatusError) || error instanceof UnexpectedAnswerError) return false;
  const { code } = error.status;
  return code >= 400 && code < 500 && !GIVEN_UP.has(code);
}

/** Bytes of what the API server said. */
const LONGEST_ANSWER = 256;

/** What became of a request, as the end of a sentence. The same answer gives the same text, because it is written to the cluster. */
export function answerOf(error: unknown): string {
  if (!(error instanceof ApiStatusError)) return 'is not answered';
  if (error instanceof BusyError) return 'is put off: the API server is too busy (429)';
  if (error instanceof UnexpectedAnswerError) return `is answered with ${error.status.code}, and not by the API server`;
  return `${isDefinite(error) ? 'is refused' : 'fails'}: ${wordsOf(error)}`;
}

/** What the API server has said. */
export function wordsOf({ status: { code, reason = '', message = '' } }: ApiStatusError): string {
  return shortened(`${code} ${reason}: ${message}`, LONGEST_ANSWER);
}
