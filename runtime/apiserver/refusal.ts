import type { RefusalReason } from '../api/agent/protocol.ts';
import { ApiStatusError, UnreachableError } from '../kube/errors.ts';
import { InvalidShadowError } from '../api/shadow/parse.ts';

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

/**
 * 503 where asking again may help: the API server fails, is busy, or does not know our renewed token yet. 502 where it will not help, as for a
 * permission that is missing.
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

/** The refusal that an error is answered with. An unexpected error does not show what is inside this process. */
export function toRefusal(error: unknown): RefusedError {
  if (error instanceof RefusedError) return error;
  if (error instanceof InvalidShadowError) return new RefusedError(400, 'InvalidStatus', error.message);
  if (error instanceof UnreachableError)
    return new RefusedError(503, 'KubernetesUnavailable', 'the Kubernetes API does not answer');
  if (error instanceof ApiStatusError) return kubernetesRefusal(error);
  const refusal = new RefusedError(500, 'InternalError', "internal error; see the apiserver's log");
  refusal.cause = error;
  return refusal;
}
