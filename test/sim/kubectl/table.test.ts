import { describe, expect, test } from '@jest/globals';
import { renderTable } from '../../../sim/cluster/kubectl/table.ts';
import { BUILT_IN_RESOURCES, type ResourceType } from '../../../sim/cluster/resources.ts';

const nowMs = Date.parse('2026-01-01T00:03:12Z');
const metadata = { name: 'it', creationTimestamp: '2026-01-01T00:00:00Z' };

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object?: object }[];
}

function resource(plural: string): ResourceType {
  const found = BUILT_IN_RESOURCES.find((each) => each.plural === plural);
  if (!found) throw new Error(`no resource ${plural}`);
  return found;
}

/** The first row as kubectl would show it: heading to cell. */
function row(plural: string, object: object): Readonly<Record<string, unknown>> {
  const table = renderTable({ resource: resource(plural), objects: [object], metadata: {}, nowMs }) as Table;
  return Object.fromEntries(table.columnDefinitions.map(({ name }, index) => [name, table.rows[0]?.cells[index]]));
}

describe('a node', () => {
  const ready = {
    conditions: [{ type: 'Ready', status: 'True' }],
    nodeInfo: { osImage: 'Bottlerocket OS 1.39.0', kubeletVersion: 'v1' },
  };

  test('shows its state, roles, age, version and image', () => {
    const labels = { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/edge': '' };
    expect(row('nodes', { metadata: { ...metadata, labels }, status: ready })).toMatchObject({
      Name: 'it',
      Status: 'Ready',
      Roles: 'edge,worker',
      Age: '3m12s',
      Version: 'v1',
      'OS-Image': 'Bottlerocket OS 1.39.0',
    });
  });

  test('that is cordoned says so', () => {
    expect(row('nodes', { metadata, spec: { unschedulable: true }, status: ready })['Status']).toBe(
      'Ready,SchedulingDisabled',
    );
  });

  test('that is lost is NotReady, and one that never reported Unknown', () => {
    expect(row('nodes', { metadata, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } })['Status']).toBe(
      'NotReady',
    );
    expect(row('nodes', { metadata })['Status']).toBe('Unknown');
  });
});

describe('a pod', () => {
  const spec = { containers: [{ name: 'a' }, { name: 'b' }], nodeName: 'n1' };
  const containers = (...states: object[]): object => ({ phase: 'Running', containerStatuses: states });

  test('counts ready containers and restarts', () => {
    const finishedAt = '2026-01-01T00:02:12Z';
    const status = containers(
      { ready: true, restartCount: 2, state: { running: {} }, lastState: { terminated: { finishedAt } } },
      { ready: false, state: { waiting: {} } },
    );
    expect(row('pods', { metadata, spec, status })).toMatchObject({
      Ready: '1/2',
      Status: 'Running',
      Restarts: '2 (60s ago)',
      Node: 'n1',
    });
  });

  test('shows why a container waits, and that it is going', () => {
    const status = containers({ state: { waiting: { reason: 'CrashLoopBackOff' } } });
    expect(row('pods', { metadata, spec, status })['Status']).toBe('CrashLoopBackOff');
    const going = { ...metadata, deletionTimestamp: '2026-01-01T00:04:00Z' };
    expect(row('pods', { metadata: going, spec, status })['Status']).toBe('Terminating');
  });
});

test('a budget, a deployment and an event show what kubectl shows of them', () => {
  expect(
    row('poddisruptionbudgets', { metadata, spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } }),
  ).toEqual({
    Name: 'it',
    'Min Available': '50%',
    'Max Unavailable': 'N/A',
    'Allowed Disruptions': 1,
    Age: '3m12s',
  });
  expect(row('deployments', { metadata, spec: { replicas: 3 }, status: { readyReplicas: 2 } })['Ready']).toBe('2/3');
  const event = {
    metadata,
    lastTimestamp: '2026-01-01T00:03:02Z',
    involvedObject: { kind: 'Node', name: 'n1' },
    reason: 'Drained',
  };
  expect(row('events', event)).toMatchObject({ 'Last Seen': '10s', Object: 'node/n1', Reason: 'Drained' });
});

describe('a custom resource', () => {
  const custom = { ...resource('pods'), group: 'example.org', plural: 'things', kind: 'Thing' };
  const columns = [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Crashes', type: 'integer', jsonPath: '.status.crashes', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ];

  test('is shown in the columns of its CRD; what is absent is an empty cell', () => {
    const objects = [{ metadata, status: { state: 'Idle', crashes: 0 } }, { metadata }];
    const table = renderTable({ resource: custom, objects, metadata: {}, columns, nowMs }) as Table;
    expect(table.columnDefinitions.map(({ name, priority }) => [name, priority])).toEqual([
      ['Name', 0],
      ['State', 0],
      ['Crashes', 1],
      ['Age', 0],
    ]);
    expect(table.rows.map(({ cells }) => cells)).toEqual([
      ['it', 'Idle', 0, '3m12s'],
      ['it', null, null, '3m12s'],
    ]);
  });

  test('without columns has its name and age', () => {
    const table = renderTable({ resource: custom, objects: [{ metadata }], metadata: {}, nowMs }) as Table;
    expect(table.rows[0]?.cells).toEqual(['it', '3m12s']);
  });
});

test('a row carries as much of its object as was asked for; headings can be left out', () => {
  const request = {
    resource: resource('leases'),
    objects: [{ metadata, spec: {} }],
    metadata: {},
    nowMs,
    includeHeaders: false,
  };
  const bare = renderTable({ ...request, includeObject: 'None' }) as Table;
  const partial = renderTable(request) as Table;
  const full = renderTable({ ...request, includeObject: 'Object' }) as Table;
  expect(bare.columnDefinitions).toBeNull();
  expect(bare.rows[0]).not.toHaveProperty('object');
  expect(partial.rows[0]?.object).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
  expect(full.rows[0]?.object).toEqual({ metadata, spec: {} });
});
