import { describe, expect, test } from '@jest/globals';
import type { Node } from '../../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../../runtime/marks/names.ts';
import type { Shadow } from '../../../runtime/shadow/model.ts';
import { duration, line, type Row, rowsOf, table } from '../../../sim/view/rows.ts';

const metadata = { name: 'node-1', uid: 'u', resourceVersion: '1' };
const plain: Node = {
  metadata,
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    nodeInfo: { osImage: 'Bottlerocket OS 1.38.0 (aws-k8s-1.33)' },
  },
};
const shadow = (spec: Shadow['spec']['state'], more: Partial<NonNullable<Shadow['status']>> = {}): Shadow => ({
  metadata: { name: 'brs-node-1' },
  spec: { state: spec },
  status: { current_version: '1.38.0', target_version: '1.39.0', current_state: 'Idle', crash_count: 0, ...more },
});

const row = (node: Node, brs?: Shadow): Row => {
  const shadows = new Map(brs ? [['brs-node-1', brs]] : []);
  return rowsOf(
    { nodes: new Map([['node-1', node]]), shadows, updates: new Map([['node-1', { startMs: 1000 }]]) },
    9000,
  )[0]!;
};

describe('a row', () => {
  test('of a node whose agent has not reported', () => {
    expect(row(plain)).toMatchObject({
      node: 'node-1',
      version: '1.38.0',
      state: 'no agent yet',
      why: '',
      podsLeft: undefined,
      elapsedMs: 8000,
    });
  });

  test('of a drain shows both states, the reason and the pods', () => {
    const node: Node = {
      ...plain,
      metadata: { ...metadata, annotations: { [MARKS_ANNOTATION]: '{}' } },
      spec: { unschedulable: true },
    };
    const brs = shadow('RebootedIntoUpdate', {
      current_state: 'StagedAndPerformedUpdate',
      drain: { started_at: '2026-01-01T00:00:00Z', pods_left: 4, blocked_by: [] },
      conditions: [
        {
          type: 'UpToDate',
          status: 'False',
          reason: 'DrainBlocked',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    });
    expect(row(node, brs)).toMatchObject({
      state: 'StagedAndPerformedUpdate → RebootedIntoUpdate, draining',
      why: 'DrainBlocked',
      podsLeft: 4,
    });
  });

  test('tells an administrator’s cordon from a drain, and a node that is down', () => {
    const node: Node = { metadata, spec: { unschedulable: true }, status: {} };
    expect(row(node, shadow('Idle')).state).toBe('Idle, NotReady, cordoned');
  });

  test('names the failure only while it counts', () => {
    const last_failure = {
      state: 'RebootedIntoUpdate',
      reason: 'BootFailed',
      message: 'm',
      version: '1.39.0',
      time: '2026-01-01T00:00:00Z',
    } as const;
    expect(row(plain, shadow('Idle', { crash_count: 1, last_failure })).why).toBe('(BootFailed 1.39.0)');
    expect(row(plain, shadow('Idle', { crash_count: 0, last_failure })).why).toBe('');
  });
});

test('rows are in the order in which a person counts', () => {
  const named = (name: string): [string, Node] => [name, { ...plain, metadata: { ...metadata, name } }];
  const nodes = new Map(['node-10', 'node-2', 'node-1'].map(named));
  expect(rowsOf({ nodes, shadows: new Map(), updates: new Map() }, 0).map(({ node }) => node)).toEqual([
    'node-1',
    'node-2',
    'node-10',
  ]);
});

test('the table is aligned and cut to the width of the terminal', () => {
  const lines = table([row(plain), { ...row(plain), node: 'node-10', podsLeft: 12 }], 60);
  expect(lines[0]).toBe('NODE     VERSION  STATE         WHY  PODS  TIME');
  expect(lines[2]).toBe('node-10  1.38.0   no agent yet       12    8s');
  expect(table([row(plain)], 10)[1]).toBe('node-1  1.');
});

test('a line says the same in words', () => {
  expect(line({ ...row(plain), podsLeft: 3 })).toBe('node-1 1.38.0 no agent yet  pods left 3 after 8s');
});

test.each([
  [400, '0s'],
  [59_400, '59s'],
  [60_000, '1m00s'],
  [3_725_000, '62m05s'],
])('%d ms read %s', (ms, text) => expect(duration(ms)).toBe(text));
