import { AccessError } from '../kube/access.ts';
import { ApiStatusError, UnexpectedAnswerError, UnreachableError } from '../kube/errors.ts';

/** An error in words for the user, with advice where there is some. */
export function explain(error: unknown): string {
  if (error instanceof ApiStatusError) return explainStatus(error);
  if (error instanceof UnreachableError) return `the cluster does not answer: ${error.message}: ${adviceOn(error)}`;
  if (!(error instanceof Error)) return 'failed';
  const cause = error instanceof AccessError && error.cause instanceof Error ? `: ${error.cause.message.trim()}` : '';
  return `${error.message}${cause}`;
}

const WAY = "look at the server of the kubeconfig's context, and at the VPN or proxy on the way to it";
const TRUST = "the certificate of the server cannot be verified by the context's certificate-authority";

/** Advice for a connection that failed. */
function adviceOn({ cause }: UnreachableError): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return /CERT|SIGNATURE/.test(String(code)) ? `${TRUST}: ${WAY}` : WAY;
}

/** Which roles to ask for where a right is missing; undefined for other errors. */
export function rolesFor(error: unknown): string | undefined {
  return error instanceof ApiStatusError && error.status.code === 403 && !isDenied(error)
    ? 'Ask for the ClusterRole brupop-view to read, or brupop-operate to change things as well.'
    : undefined;
}

/** Whether admission denied it: that is a 403 too, and no role would help. */
const isDenied = ({ status }: ApiStatusError): boolean => / denied (the )?request\b/.test(status.message ?? '');

function explainStatus(error: ApiStatusError): string {
  const { status, call, message } = error;
  const said = status.message ?? 'no reason given';
  if (status.code === 401)
    return 'the cluster does not accept your credentials (401): log in again, or check the user of the context';
  if (status.code === 403)
    return `${isDenied(error) ? 'the cluster does not allow that' : 'you may not do that'} (403): ${said}`;
  if (status.code === 404 && call.includes('/brupop.bottlerocket.aws/'))
    return `the cluster does not have the operator's kinds (404 to ${call}): check that the operator is installed there`;
  return error instanceof UnexpectedAnswerError ? `${message}: ${WAY}` : message;
}
