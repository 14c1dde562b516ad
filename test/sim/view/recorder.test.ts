import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject, Node, Pod } from '../../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../../runtime/marks/names.ts';
import type { Shadow } from '../../../runtime/shadow/model.ts';
import { type Budget, Recorder } from '../../../sim/view/recorder.ts';
import { summarise, type SummaryInput } from '../../../sim/view/summary.ts';

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1' });

const node = (name: string, version: string, more: Partial<Node> = {}): Node => ({
  metadata: meta(name),
  status: { nodeInfo: { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)` } },
  ...more,
});

const shadow = (
  name: string,
  wanted: Shadow['spec']['state'],
  status: Partial<NonNullable<Shadow['status']>> = {},
): Shadow & KubeObject => ({
  metadata: meta(`brs-${name}`),
  spec: { state: wanted },
  status: { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0, ...status },
});

const pod = (name: string, on: string, more: Partial<KubeObject['metadata']> = {}): Pod => ({
  metadata: { ...meta(name), ...more },
  spec: { nodeName: on },
});

const budget = (currentHealthy: number, disruptionsAllowed: number): Budget => ({
  metadata: meta('web'),
  status: { currentHealthy, desiredHealthy: 4, disruptionsAllowed, expectedPods: 6 },
});

let recorder: Recorder;
beforeEach(() => {
  recorder = new Recorder();
});

const seen = <T>(object: T) => ({ type: 'MODIFIED', object }) as const;
const gone = <T>(object: T) => ({ type: 'DELETED', object }) as const;

/** One node's update from 1 s to 11 s, with a drain from 3 s to 5 s and the host at work from 1 s to 2 s and from 6 s to 10 s. */
function updateOf(name: string): void {
  recorder.node(seen(node(name, '1.38.0')));
  recorder.shadow(seen(shadow(name, 'Idle')), 500);
  recorder.shadow(seen(shadow(name, 'StagedAndPerformedUpdate')), 1000);
  recorder.node(seen(node(name, '1.38.0', { spec: { unschedulable: true } })));
  recorder.pod(seen(pod('web-1', name, { deletionTimestamp: 'x' })), 3000);
  recorder.pod(gone(pod('web-1', name, { deletionTimestamp: 'x' })), 5000);
  recorder.node(seen(node(name, '1.39.0')));
  recorder.shadow(seen(shadow(name, 'Idle', { current_version: '1.39.0' })), 11_000);
}
const HOST = [
  { startMs: 0, endMs: 2000 },
  { startMs: 6000, endMs: 10_000 },
];

describe('an update', () => {
  test('lasts from its start to Idle, and its own time is what host and pods took in it', () => {
    updateOf('node-1');
    expect(recorder.updates.get('node-1')).toEqual({ startMs: 1000, endMs: 11_000 });
    expect(recorder.unavoidableMs('node-1', HOST)).toBe(1000 + 2000 + 4000);
    expect(recorder.offeredMs).toBe(500);
    expect(recorder.mostCordoned).toBe(1);
  });

  test('that runs has no own time yet', () => {
    recorder.shadow(seen(shadow('node-1', 'StagedAndPerformedUpdate')), 1000);
    expect(recorder.unavoidableMs('node-1', HOST)).toBe(0);
  });

  test('that is tried again counts anew', () => {
    updateOf('node-1');
    recorder.shadow(seen(shadow('node-1', 'StagedAndPerformedUpdate')), 20_000);
    expect(recorder.updates.get('node-1')).toEqual({ startMs: 20_000 });
  });

  test('does not wait for pods of a DaemonSet, nor for those of another node', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' };
    const leaving = { deletionTimestamp: 'x' };
    recorder.shadow(seen(shadow('node-1', 'StagedAndPerformedUpdate')), 0);
    for (const one of [
      pod('d-1', 'node-1', { ...leaving, ownerReferences: [owner] }),
      pod('web-2', 'node-2', leaving),
    ]) {
      recorder.pod(seen(one), 1000);
      recorder.pod(gone(one), 2000);
    }
    recorder.shadow(seen(shadow('node-1', 'Idle')), 3000);
    expect(recorder.unavoidableMs('node-1', [])).toBe(0);
  });

  test('is not blamed for a budget that allows nothing while it drains', () => {
    recorder.shadow(seen(shadow('node-1', 'StagedAndPerformedUpdate')), 0);
    const [first, second] = [
      pod('web-1', 'node-1', { deletionTimestamp: 'x' }),
      pod('web-2', 'node-1', { deletionTimestamp: 'x' }),
    ];
    recorder.pod(seen(first), 1000);
    recorder.budget(seen(budget(4, 0)), 1000);
    recorder.pod(gone(first), 2000);
    recorder.budget(seen(budget(5, 1)), 7000);
    recorder.pod(seen(second), 7500);
    recorder.pod(gone(second), 8000);
    recorder.shadow(seen(shadow('node-1', 'Idle')), 10_000);
    expect(recorder.unavoidableMs('node-1', [])).toBe(6000 + 500);
  });
});

test('a workload that has never met its budget was not disrupted by anybody', () => {
  recorder.budget(seen({ ...budget(0, 0), status: { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } }), 0);
  recorder.budget(seen(budget(0, 0)), 0);
  expect(recorder.leastSpare).toBe(Infinity);
  recorder.budget(seen(budget(5, 1)), 0);
  recorder.budget(seen(budget(3, 0)), 0);
  expect(recorder.leastSpare).toBe(-1);
});

describe('the summary', () => {
  const input = (more: Partial<SummaryInput> = {}): SummaryInput => ({
    recorder,
    to: '1.39.0',
    slots: 1,
    speed: 1,
    hostWork: new Map([['node-1', HOST]]),
    evictions: 7,
    ...more,
  });

  test('of a rollout that went well has no fault', () => {
    updateOf('node-1');
    recorder.budget(seen(budget(5, 1)), 0);
    expect(summarise(input())).toEqual({
      faults: [],
      lines: [
        '1 of 1 nodes run 1.39.0',
        "duration 11s, of which 7s were the hosts' and pods' own: efficiency 0.67",
        '7 evictions, at most 1 node(s) cordoned at once',
        "disruption below the workload's budget: none",
      ],
    });
  });

  test('says why a node was not updated', () => {
    recorder.node(seen(node('node-1', '1.38.0')));
    recorder.node(seen(node('node-2', '1.38.0')));
    const last_failure = {
      state: 'RebootedIntoUpdate',
      reason: 'BootFailed',
      message: 'came back with 1.38.0',
      version: '1.39.0',
      time: 'x',
    } as const;
    const conditions = [
      { type: 'UpToDate', status: 'False', reason: 'BackingOff', message: 'until 12:00', lastTransitionTime: 'x' },
    ] as const;
    recorder.shadow(seen(shadow('node-1', 'Idle', { crash_count: 1, last_failure, conditions: [...conditions] })), 0);
    expect(summarise(input()).faults).toEqual([
      'node-1 runs 1.38.0, not 1.39.0: BootFailed on 1.39.0, came back with 1.38.0 (crash count 1); BackingOff: until 12:00',
      'node-2 runs 1.38.0, not 1.39.0: its agent never reported',
    ]);
  });

  test('finds cordons and marks that were left, and a budget that was violated', () => {
    const left = { ...meta('node-1'), annotations: { [MARKS_ANNOTATION]: '{}' } };
    recorder.node(seen({ ...node('node-1', '1.39.0', { spec: { unschedulable: true } }), metadata: left }));
    recorder.budget(seen(budget(4, 0)), 0);
    recorder.budget(seen(budget(2, 0)), 0);
    expect(summarise(input()).faults).toEqual([
      'node-1 is still cordoned',
      "node-1 still bears the operator's marks",
      'the workload was 2 pod(s) below its budget',
    ]);
  });
});
