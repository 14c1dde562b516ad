import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { timeline, timeOf } from './timeline.ts';
import type { Entry } from './types.ts';

const node = (name: string, resourceVersion: string, rest: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name, resourceVersion }, ...rest }) as KubeObject;

const HISTORY: readonly Entry[] = [
  { at: 1000, kind: 'process', process: 'controller-0', event: 'starts' },
  { at: 1500, kind: 'process', process: 'agent-node-2', event: 'killed' },
  {
    at: 61_250,
    sentAt: 41_000,
    kind: 'write',
    by: 'apiserver-1',
    resource: 'nodes',
    name: 'node-1',
    before: node('node-1', '1'),
    after: node('node-1', '2', { spec: { unschedulable: true } }),
  },
  {
    at: 62_000,
    sentAt: 62_000,
    kind: 'write',
    by: 'kubelet node-1',
    resource: 'leases',
    name: 'node-1',
    before: node('node-1', 'a', { spec: { renewTime: 'a' } }),
    after: node('node-1', 'b', { spec: { renewTime: 'b' } }),
  },
  { at: 63_000, kind: 'fault', id: 4, name: 'kill', about: 'apiserver-1', phase: 'begins' },
  { at: 64_000, kind: 'host', node: 'node-12', event: { kind: 'down', asked: true } },
  { at: 65_000, kind: 'host', node: 'node-1', event: { kind: 'down', asked: false } },
  { at: 70_000, kind: 'calm' },
];

test('a time is told in hours, minutes, seconds and milliseconds', () => {
  expect(timeOf(5 * 3_600_000 + 3 * 60_000 + 7250)).toBe('+5:03:07.250');
});

test('a timeline tells what led to a violation: of its node and of all, and no signs of life', () => {
  const violation = { at: 65_000, invariant: 'no reboot under a pod', what: 'node-1 went down under pod web-1' };
  expect(timeline(HISTORY, violation, 10).map((line) => line.trim())).toEqual([
    '+0:00:01.000  controller-0 starts',
    '+0:01:01.250  apiserver-1 changes nodes/node-1: spec.unschedulable: true (sent at +0:00:41.000)',
    '+0:01:03.000  FAULT 4 begins: kill: apiserver-1',
    '+0:01:05.000  node-1: down, unasked',
    '+0:01:05.000  VIOLATION of "no reboot under a pod": node-1 went down under pod web-1',
  ]);
});

test('it has as many lines as are asked for, the last ones, after the faults that last by then', () => {
  const violation = { at: 71_000, invariant: 'liveness', what: 'nobody was updated' };
  const lasting: Entry = { at: 900, kind: 'fault', id: 3, name: 'freeze', about: 'apiserver-0', phase: 'begins' };
  expect(timeline([lasting, ...HISTORY], violation, 2).map((line) => line.trim())).toEqual([
    '+0:00:00.900  FAULT 3 begins: freeze: apiserver-0',
    '+0:01:05.000  node-1: down, unasked',
    '+0:01:10.000  CALM: no fault is left',
    '+0:01:11.000  VIOLATION of "liveness": nobody was updated',
  ]);
});

test('what happens again and again is told once, and what ends with the run is not told', () => {
  const call: Entry = {
    at: 1000,
    kind: 'host',
    node: 'node-1',
    event: { kind: 'call', method: 'GET', path: '/os', status: 423 },
  };
  const violation = { at: 5000, invariant: 'load', what: 'the host of node-1 has much to do' };
  const history: readonly Entry[] = [call, { ...call, at: 2000 }, { ...call, at: 3000 }, { at: 5000, kind: 'calm' }];
  expect(timeline(history, violation, 10).map((line) => line.trim())).toEqual([
    '+0:00:01.000  node-1: host API: GET /os: 423 (3 times)',
    '+0:00:05.000  VIOLATION of "load": the host of node-1 has much to do',
  ]);
});
