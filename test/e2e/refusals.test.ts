import { expect, test } from '@jest/globals';
import { userAgent } from '../../runtime/kube/https.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { AuditEvent } from './audit.ts';
import { refusals } from './refusals.ts';

const AGENT = `system:serviceaccount:${NAMESPACE}:brupop-agent-service-account`;
const PROCESS = userAgent('agent');
const ASKED = '2026-01-01T00:00:01.000000Z';
const ANSWERED = '2026-01-01T00:00:01.250000Z';

/** A request of an agent. */
function event(code: number, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    verb: 'list',
    user: { username: AGENT },
    userAgent: PROCESS,
    objectRef: { resource: 'nodes' },
    responseStatus: { code },
    requestReceivedTimestamp: ASKED,
    stageTimestamp: ANSWERED,
    ...more,
  };
}

test('what the operator may not do is named once, with who asked for it and when it was first seen', () => {
  const objectRef = { apiGroup: 'apps', resource: 'daemonsets', subresource: 'status', namespace: 'shop' };
  const later = { stageTimestamp: '2026-01-01T00:00:09Z' };
  expect(refusals([event(403), event(403, later), event(403, { verb: 'patch', objectRef, ...later })], [])).toEqual([
    `${AGENT} was refused (403): list nodes, first at ${ANSWERED}`,
    `${AGENT} was refused (403): patch apps/daemonsets/status in shop, first at 2026-01-01T00:00:09Z`,
  ]);
});

test('a user who impersonates it is refused as it is, and not the other way round', () => {
  const [admin, agent, kubectl] = [{ username: 'admin' }, { username: AGENT }, { userAgent: 'kubectl/v1.34.1' }];
  expect(refusals([event(403, { user: admin, impersonatedUser: agent, ...kubectl })], [])).toHaveLength(1);
  expect(refusals([event(403, { user: agent, impersonatedUser: admin, ...kubectl })], [])).toEqual([]);
});

test('a process whose token is not taken, or that sends none, is known by its user agent', () => {
  expect(refusals([event(401, { user: {} }), event(403, { user: { username: 'system:anonymous' } })], [])).toEqual([
    `${PROCESS} was refused (401): list nodes, first at ${ANSWERED}`,
    `${PROCESS} as system:anonymous was refused (403): list nodes, first at ${ANSWERED}`,
  ]);
});

test('answers of other kinds, and to others, are none', () => {
  expect(
    refusals(
      [200, 404, 409, 429].map((code) => event(code)),
      [],
    ),
  ).toEqual([]);
  for (const other of ['kubectl/v1.34.1', userAgent('kubectl')])
    expect(
      refusals(
        [event(403, { user: { username: 'admin' }, userAgent: other }), event(401, { user: {}, userAgent: other })],
        [],
      ),
    ).toEqual([]);
});

test('an API server that was started again and is not ready yet refuses everybody, which counts for nothing', () => {
  const at = Date.parse(ASKED);
  const during = (fromMs: number, toMs: number): number => refusals([event(403)], [{ fromMs, toMs }]).length;
  expect(during(at - 1000, at)).toBe(0);
  expect(during(at, at + 1000)).toBe(0);
  expect(during(at - 1000, at - 1)).toBe(1);
  expect(during(at + 1, at + 1000)).toBe(1);
});

test('that others were refused at the same moment excuses nothing', () => {
  const scheduler = event(403, { user: { username: 'system:kube-scheduler' }, userAgent: 'kube-scheduler/v1.34.1' });
  expect(refusals([scheduler, event(403), scheduler], [])).toHaveLength(1);
});
