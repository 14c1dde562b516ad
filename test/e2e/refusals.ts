import { type AuditEvent, authorOf, isOperator } from './audit.ts';
import type { Outage } from './controlplane/outages.ts';

/** As `userAgent` of `runtime/kube/https.ts` begins for the operator's processes; whoever runs `kubectl brupop` is somebody else. */
const OPERATOR_AGENT = /^brupop-(agent|apiserver|controller)\//;

/**
 * What the API server refused the operator's processes: a line per process and kind of request, with the first time. An API server that was
 * started again refuses everybody until it has read the roles, and is not ready before that: what it was asked until then does not count.
 */
export function refusals(events: readonly AuditEvent[], outages: readonly Outage[]): readonly string[] {
  const firsts = new Map<string, string>();
  for (const event of events.filter((one) => isRefused(one) && !isDuring(outages, one))) {
    const line = inWords(event);
    if (!firsts.has(line)) firsts.set(line, event.stageTimestamp);
  }
  return [...firsts].map(([line, at]) => `${line}, first at ${at}`);
}

/** By when the request came: the answer may be logged after the server got ready. */
function isDuring(outages: readonly Outage[], { requestReceivedTimestamp }: AuditEvent): boolean {
  const atMs = Date.parse(requestReceivedTimestamp);
  return outages.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs);
}

/** Whoever bears no token, or one that is not taken, is nobody: that one is known by the name that the process gives itself. */
function isRefused(event: AuditEvent): boolean {
  const code = event.responseStatus?.code;
  const isOurs = isOperator(authorOf(event)) || OPERATOR_AGENT.test(event.userAgent ?? '');
  return isOurs && (code === 401 || code === 403);
}

function inWords(event: AuditEvent): string {
  const { verb, objectRef = {}, responseStatus } = event;
  const what = [objectRef.apiGroup, objectRef.resource, objectRef.subresource].filter(Boolean).join('/');
  const where = objectRef.namespace === undefined ? '' : ` in ${objectRef.namespace}`;
  return `${whoOf(event)} was refused (${responseStatus?.code}): ${verb} ${what}${where}`;
}

function whoOf(event: AuditEvent): string {
  const author = authorOf(event);
  return isOperator(author) ? author : [event.userAgent, author].filter(Boolean).join(' as ');
}
