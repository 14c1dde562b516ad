import { type AuditEvent, authorOf, isOperator } from './audit.ts';

/** As `userAgent` of `runtime/kube/https.ts` begins. */
const OPERATOR_AGENT = /^brupop-/;

/** What the API server refused the operator's processes: a line per process and kind of request. */
export function refusals(events: readonly AuditEvent[]): readonly string[] {
  return [...new Set(events.filter(isRefused).map(inWords))];
}

/** Whoever bears a token that is not taken is nobody: that one is known by the name that the process gives itself. */
function isRefused(event: AuditEvent): boolean {
  const code = event.responseStatus?.code;
  return (code === 403 && isOperator(authorOf(event))) || (code === 401 && OPERATOR_AGENT.test(event.userAgent ?? ''));
}

function inWords(event: AuditEvent): string {
  const { verb, objectRef = {}, responseStatus, userAgent = '' } = event;
  const what = [objectRef.apiGroup, objectRef.resource, objectRef.subresource].filter(Boolean).join('/');
  const where = objectRef.namespace === undefined ? '' : ` in ${objectRef.namespace}`;
  return `${authorOf(event) || userAgent} was refused (${responseStatus?.code}): ${verb} ${what}${where}`;
}
