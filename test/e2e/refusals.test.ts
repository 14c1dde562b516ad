import { expect, test } from '@jest/globals';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import type { AuditEvent } from './audit.ts';
import { refusals } from './refusals.ts';

const AGENT = `system:serviceaccount:${NAMESPACE}:brupop-agent-service-account`;

function event(code: number, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    verb: 'list',
    user: { username: AGENT },
    userAgent: 'brupop-agent/0.1.0',
    objectRef: { resource: 'nodes' },
    responseStatus: { code },
    stageTimestamp: '2026-01-01T00:00:00Z',
    ...more,
  };
}

test('what the operator may not do is named once, with who asked for it', () => {
  const objectRef = { apiGroup: 'apps', resource: 'daemonsets', subresource: 'status', namespace: 'shop' };
  expect(refusals([event(403), event(403), event(403, { verb: 'patch', objectRef })])).toEqual([
    `${AGENT} was refused (403): list nodes`,
    `${AGENT} was refused (403): patch apps/daemonsets/status in shop`,
  ]);
});

test('whoever acts in its name is refused as it is, and not the other way round', () => {
  expect(refusals([event(403, { user: { username: 'admin' }, impersonatedUser: { username: AGENT } })])).toHaveLength(
    1,
  );
  expect(refusals([event(403, { impersonatedUser: { username: 'admin' } })])).toEqual([]);
});

test('a process whose token is not taken is known by its user agent', () => {
  expect(refusals([event(401, { user: {} })])).toEqual(['brupop-agent/0.1.0 was refused (401): list nodes']);
});

test('answers of other kinds, and to others, are none', () => {
  expect(refusals([200, 404, 409, 429].map((code) => event(code)))).toEqual([]);
  expect(refusals([event(403, { user: { username: 'admin' } }), event(401, { userAgent: 'kubectl' })])).toEqual([]);
});

test('an API server that has just started and refuses everybody counts for nothing, for a second', () => {
  const everybody = event(403, { user: { username: 'system:kube-scheduler' } });
  expect(refusals([everybody, event(403, { stageTimestamp: '2026-01-01T00:00:00.900Z' })])).toEqual([]);
  expect(refusals([everybody, event(403, { stageTimestamp: '2026-01-01T00:00:01.100Z' })])).toHaveLength(1);
});
