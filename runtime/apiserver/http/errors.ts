import { ApiStatusError, UnreachableError } from '../../kube/errors.ts';
import { InvalidShadowError } from '../../shadow/parse.ts';
import { kubernetesRefusal, RefusedError } from '../refusal.ts';

/** The refusal that stands for any error. What nobody expected says nothing of its inside. */
export function refusalOf(error: unknown): RefusedError {
  if (error instanceof RefusedError) return error;
  if (error instanceof InvalidShadowError) return new RefusedError(400, 'InvalidStatus', error.message);
  if (error instanceof UnreachableError)
    return new RefusedError(503, 'KubernetesUnavailable', 'the Kubernetes API does not answer');
  if (error instanceof ApiStatusError) return kubernetesRefusal(error);
  const refusal = new RefusedError(500, 'InternalError', 'an error that nobody expected; the log has it');
  refusal.cause = error;
  return refusal;
}
