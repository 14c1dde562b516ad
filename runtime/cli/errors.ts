import { AccessError } from '../kube/access.ts';
import { ApiStatusError, UnreachableError } from '../kube/errors.ts';

/** What went wrong, for the person who sits there, and what to do about it where that is known. */
export function explained(error: unknown): string {
  if (error instanceof ApiStatusError) return ofStatus(error);
  if (error instanceof UnreachableError) return `the cluster does not answer: ${error.message}`;
  if (!(error instanceof Error)) return 'failed';
  const cause = error instanceof AccessError && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}

function ofStatus({ status, call, message }: ApiStatusError): string {
  const said = status.message ?? 'no reason given';
  if (status.code === 401)
    return 'the cluster does not take your credentials (401): log in again, or look at the user of the context';
  if (status.code === 403) return `you may not do that (403): ${said}`;
  if (status.code === 404 && call.includes('/brupop.bottlerocket.aws/'))
    return `the cluster does not have the operator's kinds (404 to ${call}): is it installed there?`;
  return message;
}
