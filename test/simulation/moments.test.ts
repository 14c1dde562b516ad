import { expect, test } from '@jest/globals';
import { TrueTime } from './clock.ts';
import { Moments } from './moments.ts';
import type { Process } from './types.ts';
import { seeded } from '../random.ts';

const MARKS = 'brupop.bottlerocket.aws/marks';
const APISERVER = { name: 'apiserver-0' } as Process;
const NODE = '/api/v1/nodes/n1';
const CORDONED = { id: 'd', owns: ['cordon', 'karpenter'] };
const WAITING = { ...CORDONED, volumesSince: '2026-03-02T00:00:00Z' };
const PROVEN = { ...WAITING, drained: '2026-03-02T00:05:00Z', proof: 'p' };

const annotated = (marks: object | null) => ({ annotations: { [MARKS]: marks && JSON.stringify(marks) } });

/** The moment of a write by a Node as it was before. */
function momentOf(path: string, { body, before }: { readonly body?: object; readonly before?: object } = {}): unknown {
  const moments = new Moments(new TrueTime(seeded(1)));
  const metadata = { name: 'n1', uid: 'u', resourceVersion: '1', ...before };
  const after = { apiVersion: 'v1', kind: 'Node', metadata };
  const about = { resource: 'nodes', name: 'n1', by: 'apiserver-0', sentAt: 0 };
  moments.see({ at: 0, kind: 'write', ...about, after });
  moments.meet(APISERVER, { to: 'api', request: { method: 'PATCH', path, body } }, () => true);
  const seen = Object.entries(moments.counts).filter(([, count]) => count.seen > 0);
  return seen.map(([moment]) => moment).join();
}

test.each([
  ['its proof', WAITING, PROVEN, 'drained'],
  ['another proof', PROVEN, { ...PROVEN, proof: 'q' }, 'drained'],
  ['the time from which volumes are waited for', CORDONED, WAITING, 'volumes-awaited'],
  ['a cordon given up', CORDONED, { ...CORDONED, owns: ['karpenter'] }, 'disowned'],
  ['a cordon given up after the proof', PROVEN, { ...PROVEN, owns: ['karpenter'] }, 'disowned'],
  ['no marks', PROVEN, null, 'released'],
])('the moment of a write to marks that has %s', (_, before, marks, moment) => {
  expect(momentOf(NODE, { before: annotated(before), body: { metadata: annotated(marks) } })).toBe(moment);
});

test('a cordon that joins a drain is a cordon, and an exclusion from load balancers is told from it', () => {
  const cordon = { metadata: annotated(WAITING), spec: { unschedulable: true } };
  expect(momentOf(NODE, { before: annotated(WAITING), body: cordon })).toBe('cordon');
  const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'True' };
  const excluded = { metadata: { ...annotated({ ...PROVEN, owns: [...PROVEN.owns, 'lb'] }), labels } };
  expect(momentOf(NODE, { before: annotated(PROVEN), body: excluded })).toBe('lb-excluded');
});

test("the moment of a policy's status", () => {
  const path = '/apis/brupop.bottlerocket.aws/v1alpha1/bottlerocketupdatepolicies/web/status';
  expect(momentOf(path, { body: { status: {} } })).toBe('policy-status');
});
