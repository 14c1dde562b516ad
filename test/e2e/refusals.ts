import { type AuditEvent, authorOf, isOperator } from './audit.ts';

/** As `userAgent` of `runtime/kube/https.ts` begins. */
const OPERATOR_AGENT = /^brupop-/;

/** They may do all that they ask for. */
const KUBERNETES = new Set(['system:kube-controller-manager', 'system:kube-scheduler']);
const STARTING_MS = 1000;

/**
 * What the API server refused the operator's processes: a line per process and kind of request. One that was started a moment ago refuses
 * everybody until it has read the roles, Kubernetes' own controllers too: that does not count.
 */
export function refusals(events: readonly AuditEvent[]): readonly string[] {
  const starts = events
    .filter((event) => event.responseStatus?.code === 403 && KUBERNETES.has(authorOf(event)))
    .map(timeOf);
  const isStarting = (atMs: number): boolean => starts.some((start) => Math.abs(start - atMs) < STARTING_MS);
  const refused = events.filter((event) => isRefused(event) && !isStarting(timeOf(event)));
  return [...new Set(refused.map(inWords))];
}

function timeOf({ stageTimestamp }: AuditEvent): number {
  return Date.parse(stageTimestamp);
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
