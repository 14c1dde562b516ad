import { describe, expect, test } from '@jest/globals';
import { readAgentConfig } from '../../runtime/agent/config.ts';
import { chartOf, find, literalEnv, manifests, type Manifest } from './manifests.ts';

/** Agents of the first operator's interface 1.0.0, which are off by default. */

const objects = manifests({ agent: { interfaceV1: true } });
const daemonSet = find(objects, 'DaemonSet', 'brupop-agent-updog');
const { spec: pod, metadata } = daemonSet.spec.template;
const others = (all: readonly Manifest[]): readonly Manifest[] =>
  all.filter(({ metadata: { name } }) => name !== 'brupop-agent-updog' && name !== 'brupop-controller-deployment');

test('where they are asked for, nothing else changes but what the controller is told', () => {
  expect(others(objects)).toEqual(others(manifests()));
  expect(manifests().filter(({ metadata: { name } }) => name.includes('updog'))).toEqual([]);
  const told = (all: readonly Manifest[]) => literalEnv(all, 'controller')['INTERFACE_V1'];
  expect([told(manifests()), told(objects)]).toEqual([undefined, 'true']);
});

describe('their pods', () => {
  test('are agents to the apiserver and to policies, and are told from the others by the selector alone', () => {
    const own = { 'brupop.bottlerocket.aws/driver': 'updog' };
    const component = { 'brupop.bottlerocket.aws/component': 'agent' };
    expect(metadata.labels).toMatchObject({ ...component, ...own });
    expect(daemonSet.spec.selector.matchLabels).toEqual({ ...component, ...own });
    const plain = find(objects, 'DaemonSet', 'brupop-agent').spec.template.metadata.labels;
    expect(plain).not.toHaveProperty(Object.keys(own));
    expect(pod.serviceAccountName).toBe(
      find(objects, 'DaemonSet', 'brupop-agent').spec.template.spec.serviceAccountName,
    );
  });

  test('run on nodes labelled 1.0.0, and wait there until no other agent is left', () => {
    const [{ matchExpressions }] =
      pod.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
    expect(matchExpressions).toContainEqual({
      key: 'bottlerocket.aws/updater-interface-version',
      operator: 'In',
      values: ['1.0.0'],
    });
    expect(pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
      {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchLabels: { 'brupop.bottlerocket.aws/component': 'agent' } },
      },
    ]);
  });

  test('find the root of their host where the agent looks for it, and are root there', () => {
    const [{ env, volumeMounts, securityContext }] = pod.containers;
    const stated = Object.fromEntries(env.map((one: { name: string; value?: string }) => [one.name, one.value]));
    const { HOST_DRIVER, HOST_ROOT } = readAgentConfig({ ...stated, MY_NODE_NAME: 'n' });
    expect(HOST_DRIVER).toBe('updog');
    const { name } = volumeMounts.find(({ mountPath }: { mountPath: string }) => mountPath === HOST_ROOT);
    expect(pod.volumes).toContainEqual({ name, hostPath: { path: '/', type: 'Directory' } });
    expect(securityContext).toMatchObject({ privileged: true, allowPrivilegeEscalation: true });
    expect(pod).toMatchObject({ hostPID: true, securityContext: { runAsUser: 0, runAsNonRoot: false } });
  });
});

test('what they mean is a warning', () => {
  const warnings = (interfaceV1: boolean) => chartOf({ agent: { interfaceV1 } }).brupop.warnings;
  expect(warnings(true).filter((text) => !warnings(false).includes(text))).toEqual([
    expect.stringMatching(/^agent\.interfaceV1: .* privileged agent with the host's whole root/),
  ]);
});
