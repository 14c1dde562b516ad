import { SERVICE_ACCOUNTS } from '../../../infra/names.ts';
import type { Component } from '../../../infra/labels.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { type AuditEvent, authorOf } from '../../../test/e2e/audit.ts';

/** How often an account of the operator asked the API server for something. */
export interface RequestCount {
  readonly account: Component;
  /** Verb, resource and subresource, e.g. `create pods/eviction`. */
  readonly kind: string;
  readonly count: number;
}

interface Period {
  /** Milliseconds since the Unix epoch. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The most frequent first, of each account. What keeps the leader's Lease is left out. */
export function requestsOf(events: readonly AuditEvent[], { fromMs, toMs }: Period): readonly RequestCount[] {
  const counts = new Map<string, RequestCount>();
  for (const event of events) {
    const account = accountOf(authorOf(event));
    const atMs = Date.parse(event.requestReceivedTimestamp);
    const kind = kindOf(event);
    if (account === undefined || atMs < fromMs || atMs > toMs || kind.endsWith(' leases') || isEnd(event)) continue;
    const key = `${account} ${kind}`;
    counts.set(key, { account, kind, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].toSorted((a, b) => a.account.localeCompare(b.account) || b.count - a.count);
}

function isEnd({ verb, stage }: AuditEvent): boolean {
  return verb === 'watch' && stage === 'ResponseComplete';
}

function accountOf(user: string): Component | undefined {
  const components = Object.keys(SERVICE_ACCOUNTS) as Component[];
  return components.find((one) => user === `system:serviceaccount:${NAMESPACE}:${SERVICE_ACCOUNTS[one]}`);
}

function kindOf({ verb, objectRef }: AuditEvent): string {
  const { resource = '', subresource } = objectRef ?? {};
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}
