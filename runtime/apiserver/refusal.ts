import type { ApiStatusError } from '../kube/errors.ts';

/** The apiserver will not do what was asked, or cannot now. Becomes the answer `{error, reason}` with `status`. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  /** HTTP status: 409 = look again, other 4xx = do not ask the same again, 503 = ask again, 504 = a drain's deadline has passed. */
  readonly status: number;
  /** One word for a program. */
  readonly reason: RefusalReason;
  constructor(status: number, reason: RefusalReason, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export const REFUSAL_REASONS = [
  /** The request lacks a header, repeats one, or its body cannot be read. */
  'BadRequest',
  /** The status does not fit the model. */
  'InvalidStatus',
  /** The token is not an agent's, or not valid. */
  'Unauthorized',
  /** The token is an agent's, but of another node. */
  'Forbidden',
  /** The rules of an update do not allow it now; the message says which. */
  'NotAllowed',
  /** The object changed since it was read: look again. */
  'Conflict',
  /** Pods on the node cannot be evicted as things are; the message names them. */
  'Undrainable',
  /** A drain was superseded by another attempt, or its marks were released. */
  'Superseded',
  /** This replica ends; another one will take over. */
  'ShuttingDown',
  /** The drain's deadline has passed; the message names the pods left and why. */
  'DrainTimeout',
  /** The Kubernetes API cannot be reached or fails. */
  'KubernetesUnavailable',
  /** The Kubernetes API refuses what the apiserver wants, e.g. for a missing permission. */
  'KubernetesRefused',
  /** The Kubernetes API takes the status in no case: its schema, or an admission policy, is against it. */
  'StatusRefused',
  /** The node, or the connection, has more requests under way than one agent has. */
  'TooManyRequests',
  /** Others have sent more than can be kept in memory, or reviewed, at once. */
  'Busy',
  /** TLS failed, or its handshake did not end in time. */
  'Handshake',
  /** Headers or body did not come in time. */
  'TooSlow',
  /** Nobody waits for the answer any more. */
  'ClientGone',
  'NotFound',
  'TooLarge',
  'InternalError',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/**
 * A server that fails or is busy, or has our renewed token not yet, may do it later; a permission that lacks will not come by asking again.
 * @param told what the caller hears; the log has the rest as the cause
 */
export function kubernetesRefusal(cause: ApiStatusError, told = cause.message): RefusedError {
  const { code } = cause.status;
  const later = code === 401 || code === 429 || code >= 500;
  const refusal = later
    ? new RefusedError(503, 'KubernetesUnavailable', told)
    : new RefusedError(502, 'KubernetesRefused', told);
  if (told !== cause.message) refusal.cause = cause;
  return refusal;
}

/** 409: the rules of an update do not allow it. */
export const notAllowed = (message: string): RefusedError => new RefusedError(409, 'NotAllowed', message);
