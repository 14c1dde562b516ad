import { describe, expect, test } from '@jest/globals';
import { agentFindings, labelFindings } from '../../runtime/cli/doctor/agents.ts';
import type { Facts } from '../../runtime/cli/doctor/facts.ts';
import type { DoctorFinding } from '../../runtime/cli/doctor/finding.ts';
import { otherFindings } from '../../runtime/cli/doctor/others.ts';
import { partsFindings } from '../../runtime/cli/doctor/parts.ts';

/** What doctor says of the operator's workloads, their pods, and the nodes that they are for. */

const read = <T>(value: T) => ({ value, refused: undefined });
const object = (name: string) => ({ metadata: { name, uid: name, resourceVersion: '1' } });
const problems = (findings: readonly DoctorFinding[]): readonly string[] =>
  findings.filter(({ state }) => state === 'problem').map(({ says }) => says);

test('parts of several versions, and pods that are not ready, are problems', () => {
  const part = (name: string, image: string, readyReplicas: number | null) => ({
    name,
    workload: {
      ...object(name),
      spec: { replicas: 1, template: { spec: { containers: [{ image }] } } },
      status: { readyReplicas },
    },
  });
  const found = (...parts: readonly object[]) =>
    problems(partsFindings({ parts: read(parts), pods: read([]) } as unknown as Facts));
  expect(found(part('a', 'x:1', 1), part('b', 'x:1', 1))).toEqual([]);
  expect(found(part('a', 'x:1', 1), part('b', 'x:2', 1))[0]).toMatch(/different images: a x:1, b x:2/);
  expect(found(part('a', 'x:1', null))).toEqual(['a: 0 of 1 pods are ready']);
  expect(found({ name: 'a', workload: { ...object('a'), spec: { replicas: 0 }, status: {} } })).toEqual([
    'a is scaled to 0',
  ]);
  expect(found({ name: 'a', workload: undefined })).toEqual(['there is no a']);
});

describe('pods', () => {
  const labels = (component: string) => ({ 'brupop.bottlerocket.aws/component': component });
  const pod = (name: string, component: string, more: { readonly spec?: object; readonly status?: object }) => ({
    metadata: { ...object(name).metadata, labels: labels(component) },
    ...more,
  });
  const found = (parts: readonly object[], ...pods: readonly object[]) =>
    partsFindings({ parts: read(parts), pods: read(pods) } as unknown as Facts);

  test('of a part that are not ready are named with why, and with the commands that say more', () => {
    const selector = { matchLabels: labels('apiserver') };
    const workload = { ...object('s'), spec: { replicas: 4, selector }, status: { readyReplicas: 1 } };
    const crashing = { containerStatuses: [{ name: 'x', state: { waiting: { reason: 'CrashLoopBackOff' } } }] };
    const unscheduled = {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    };
    const findings = found(
      [{ name: 's', kind: 'deployments', workload }],
      pod('s-1', 'apiserver', { spec: { nodeName: 'a' }, status: crashing }),
      pod('s-2', 'apiserver', { status: unscheduled }),
      pod('s-3', 'apiserver', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }),
      pod('s-4', 'apiserver', { spec: { nodeName: 'b' }, status: { phase: 'Running', conditions: null } }),
      pod('agent-1', 'agent', { status: crashing }),
    );
    expect(problems(findings)).toEqual([
      's: 1 of 4 pods are ready, not s-1 (CrashLoopBackOff on a), s-2 (Unschedulable), s-4 (not ready on b)',
    ]);
    expect(findings[0]!.todo).toBe('`kubectl describe pod s-1` and `kubectl logs s-1` say more.');
  });

  test('of controllers of two versions are a reason to wait a minute', () => {
    const controller = (name: string, image: string) =>
      pod(name, 'brupop-controller', { spec: { containers: [{ image }] } });
    expect(problems(found([], controller('c-1', 'x:1'), controller('c-2', 'x:1')))).toEqual([]);
    const findings = found([], controller('c-1', 'x:2'), controller('c-2', 'x:1'));
    expect(problems(findings)).toEqual(['controllers of 2 versions run: x:2, x:1']);
    expect(findings[0]!.todo).toMatch(/--replicas 0`, wait a minute, then/);
  });
});

test('nodes that run Bottlerocket and are not labelled are named, and are a problem where no other node is labelled', () => {
  const node = (name: string, managed: boolean, joinable: boolean) => ({ name, managed, joinable });
  const said = (...nodes: readonly ReturnType<typeof node>[]) =>
    labelFindings(nodes).map(({ state, says, todo = '' }) => `${state}: ${says} ${todo}`);
  const label = '`kubectl label node b bottlerocket.aws/updater-interface-version=2.0.0`';
  expect(said(node('a', true, true), node('other', false, false))).toEqual([expect.stringMatching(/^ok: /)]);
  expect(said(node('a', true, true), node('b', false, true))).toEqual([
    `unknown: Bottlerocket runs on nodes that are not labelled, so that nothing updates them: b If that is not meant: ${label}`,
  ]);
  expect(said(node('b', false, true))).toEqual([
    `problem: no node is labelled for updates: Bottlerocket runs on b ${label}`,
  ]);
  expect(said(node('other', false, false))[0]).toMatch(/^problem: .*, and none runs Bottlerocket/);
});

test('what an older operator has left in any of the parts is named with its part', () => {
  const container = (more: object) => ({ spec: { template: { spec: { containers: [more] } } } });
  const mounts = ['/var/run/secrets/tokens', '/var/run/secrets/tokens/'].map((mountPath) => ({ mountPath }));
  const parts = read([
    { name: 'server', kind: 'deployments', workload: container({ resources: { limits: { cpu: '10m' } } }) },
    { name: 'agent', kind: 'daemonsets', workload: container({ volumeMounts: mounts }) },
    { name: 'own', kind: 'daemonsets', workload: container({ volumeMounts: mounts.slice(1) }) },
  ]);
  const findings = otherFindings({ others: read([]), parts } as unknown as Facts);
  expect(problems(findings)).toEqual([
    'server still has a CPU limit of 10m of the older operator',
    'agent still has a second mount of the token of the older operator',
  ]);
  expect(findings[0]!.todo).toContain('`kubectl delete deployments server --cascade=orphan`');
});

test('an agent that runs and is not heard, and one that cannot start, are told apart', () => {
  const node = (name: string) => ({ name, shadowName: `brs-${name}`, managed: true, ready: true });
  const pod = (name: string, state: object) => ({
    ...object(name),
    metadata: { ...object(name).metadata, labels: { 'brupop.bottlerocket.aws/component': 'agent' } },
    spec: { nodeName: name },
    status: { containerStatuses: [{ name: 'agent', state }] },
  });
  const pods = [pod('a', { running: { startedAt: null } }), pod('b', { waiting: { reason: 'ImagePullBackOff' } })];
  const seen = { snapshot: { nodes: [node('a'), node('b'), node('c')], shadows: [] }, plan: { verdicts: [] } };
  const findings = agentFindings({ seen, pods: read(pods) } as unknown as Facts);
  expect(problems(findings)).toEqual([
    'no agent runs on b (b: ImagePullBackOff), c (no pod)',
    'agents run and have not registered a',
  ]);
  expect(findings.map(({ todo }) => todo)).toEqual([
    '`kubectl describe pod b` and `kubectl logs b` say more.',
    expect.stringContaining('`kubectl logs a` say more.'),
  ]);
});
