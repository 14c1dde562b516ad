import { describe, expect, test } from '@jest/globals';
import { requestsOf } from '../../lab/bench/rollout/requests.ts';
import { efficiency } from '../../lab/bench/rollout/scenarios.ts';
import type { AuditEvent } from '../e2e/audit.ts';

describe('the efficiency of a rollout', () => {
  test('is 1 where each place is taken by one host after the other, without a pause', () => {
    expect(efficiency({ name: '', nodes: 30, places: 10, zones: 1 }, 3 * 54_000)).toBe(1);
  });
});

describe('the requests of an update', () => {
  const period = { fromMs: Date.parse('2026-01-01T00:00:00Z'), toMs: Date.parse('2026-01-01T00:01:00Z') };
  const event = (
    username: string,
    verb: string,
    objectRef: NonNullable<AuditEvent['objectRef']>,
    at = '00:00:30',
  ): AuditEvent => ({
    verb,
    user: { username },
    objectRef,
    requestReceivedTimestamp: `2026-01-01T${at}Z`,
    stageTimestamp: `2026-01-01T${at}Z`,
  });
  const APISERVER = 'system:serviceaccount:brupop-bottlerocket-aws:brupop-apiserver-service-account';
  const CONTROLLER = 'system:serviceaccount:brupop-bottlerocket-aws:brupop-controller-service-account';

  test('are counted by account and kind, a watch once, without the Lease, and those of others, and of other times', () => {
    const events: readonly AuditEvent[] = [
      event(APISERVER, 'get', { resource: 'nodes' }),
      event(APISERVER, 'create', { resource: 'pods', subresource: 'eviction' }),
      event(APISERVER, 'create', { resource: 'pods', subresource: 'eviction' }),
      event(CONTROLLER, 'update', { resource: 'leases' }),
      event(CONTROLLER, 'patch', { resource: 'nodes' }, '00:01:30'),
      event('system:node:node-1', 'get', { resource: 'nodes' }),
      { ...event(APISERVER, 'watch', { resource: 'pods' }), stage: 'ResponseStarted' },
      { ...event(APISERVER, 'watch', { resource: 'pods' }), stage: 'ResponseComplete' },
    ];
    expect(requestsOf(events, period)).toEqual([
      { account: 'apiserver', kind: 'create pods/eviction', count: 2 },
      { account: 'apiserver', kind: 'get nodes', count: 1 },
      { account: 'apiserver', kind: 'watch pods', count: 1 },
    ]);
  });
});
