import { describe, expect, test } from '@jest/globals';
import { PeopleRoles } from '../../infra/people.ts';
import { readAgentConfig } from '../../runtime/agent/config.ts';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import { chartOf, find, literalEnv, manifests, type Manifest } from './manifests.ts';

/** Nodes that run k3OS, which are nobody's by default. */

const objects = manifests({ k3os: { enabled: true } });
const daemonSet = find(objects, 'DaemonSet', 'brupop-agent-k3os');
const { spec: pod, metadata } = daemonSet.spec.template;
const OWN = ['brupop-agent-k3os', 'brupop-controller-channels-role', 'updatechannels.k3os.io'];

test('where they are asked for, nothing else changes but what the controller is told', () => {
  const isOwn = ({ metadata: { name } }: Manifest) => OWN.some((own) => name.startsWith(own));
  const others = (all: readonly Manifest[]) =>
    all.filter((one) => !isOwn(one) && one.metadata.name !== 'brupop-controller-deployment');
  expect(others(objects)).toEqual(others(manifests()));
  expect(manifests().filter(isOwn)).toEqual([]);
  expect(literalEnv(manifests(), 'controller')).not.toHaveProperty('K3OS_NAMESPACE');
  const config = readControllerConfig({ ...literalEnv(objects, 'controller'), MY_NODE_NAME: 'n' });
  expect(config).toMatchObject({ K3OS_NAMESPACE: 'k3os-system', K3OS_RELEASES_URL: 'https://api.github.com' });
});

test('the definition of channels has the names and the shape that its users know', () => {
  const { spec, metadata: own } = find(objects, 'CustomResourceDefinition', 'updatechannels.k3os.io');
  expect(own.namespace).toBeUndefined();
  expect(spec).toMatchObject({
    group: 'k3os.io',
    scope: 'Namespaced',
    names: {
      kind: 'UpdateChannel',
      plural: 'updatechannels',
      singular: 'updatechannel',
      shortNames: ['upchan', 'upchans'],
      categories: ['all'],
    },
    versions: [{ name: 'v1', served: true, storage: true }],
  });
  expect(spec.versions[0]).not.toHaveProperty('subresources');
  const { spec: fields, status } = spec.versions[0].schema.openAPIV3Schema.properties;
  expect([Object.keys(fields.properties), Object.keys(status.properties)]).toEqual([
    ['concurrency', 'url', 'version'],
    ['polling', 'upgrading', 'conditions'],
  ]);
  expect(manifests({ k3os: { enabled: true }, createCrd: false }).map(({ kind }) => kind)).not.toContain(
    'CustomResourceDefinition',
  );
});

test('the controller may do with channels what it does, where they live and nowhere else', () => {
  const name = 'brupop-controller-channels-role';
  const elsewhere = manifests({ k3os: { enabled: true, namespace: 'channels' } });
  const role = find(elsewhere, 'Role', name);
  expect([role.metadata.namespace, role['rules']]).toEqual([
    'channels',
    [{ apiGroups: ['k3os.io'], resources: ['updatechannels'], verbs: ['list', 'watch', 'create', 'patch'] }],
  ]);
  expect(find(elsewhere, 'RoleBinding', `${name}-binding`)['subjects']).toEqual([
    {
      kind: 'ServiceAccount',
      name: 'brupop-controller-service-account',
      namespace: 'brupop-bottlerocket-aws',
    },
  ]);
});

describe('the agents’ pods', () => {
  test('run where k3OS was not booted live, and where nobody says that Bottlerocket runs', () => {
    const [{ matchExpressions }] =
      pod.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
    expect(matchExpressions).toEqual(
      expect.arrayContaining([
        { key: 'k3os.io/mode', operator: 'Exists' },
        { key: 'k3os.io/mode', operator: 'NotIn', values: ['live'] },
        { key: 'bottlerocket.aws/updater-interface-version', operator: 'DoesNotExist' },
      ]),
    );
  });

  test('are agents to the apiserver and to policies, and are told from the others by the selector alone', () => {
    const own = {
      'brupop.bottlerocket.aws/driver': 'k3os',
      'brupop.bottlerocket.aws/component': 'agent',
    };
    expect(metadata.labels).toMatchObject(own);
    expect(daemonSet.spec.selector.matchLabels).toEqual(own);
  });

  test('have the five paths of their host that its tool needs, of which two can be written', () => {
    const [{ env, volumeMounts, securityContext }] = pod.containers;
    const stated = Object.fromEntries(env.map((one: { name: string; value?: string }) => [one.name, one.value]));
    const config = readAgentConfig({ ...stated, MY_NODE_NAME: 'n' });
    expect(config).toMatchObject({ HOST_DRIVER: 'k3os', HOST_ROOT: '/', HOST_INIT_PID: 1 });
    const onHost = new Map<string, string>(
      pod.volumes.flatMap(({ name, hostPath }: { name: string; hostPath?: { path: string } }) =>
        hostPath ? [[name, hostPath.path]] : [],
      ),
    );
    const mounts = volumeMounts as readonly { name: string; mountPath: string; readOnly?: boolean }[];
    const shown = mounts.flatMap(({ name, mountPath, readOnly }) =>
      onHost.has(name) ? [`${onHost.get(name)} at ${mountPath}${readOnly ? '' : ' (rw)'}`] : [],
    );
    expect(shown).toEqual([
      '/etc/os-release at /etc/os-release',
      '/etc/ssl at /etc/ssl',
      '/sbin/k3os at /sbin/k3os',
      '/k3os/system at /k3os/system (rw)',
      '/run/k3os at /run/k3os (rw)',
    ]);
    expect(securityContext).toMatchObject({ privileged: true, readOnlyRootFilesystem: true });
    expect(pod).toMatchObject({ hostPID: true, securityContext: { runAsUser: 0, runAsNonRoot: false } });
    expect(pod).not.toHaveProperty('hostIPC');
  });
});

test('people who may see a rollout may see what its k3OS nodes are to run, and only where there are such nodes', () => {
  const seen = (enabled: boolean) => {
    const { brupop } = chartOf({ k3os: { enabled } });
    const { rules } = new PeopleRoles(brupop, 'People', { brupop }).view.toJson() as {
      readonly rules: readonly { readonly resources: readonly string[] }[];
    };
    return rules.flatMap(({ resources }) => resources).includes('updatechannels');
  };
  expect([seen(true), seen(false)]).toEqual([true, false]);
});

test('what they mean is a warning', () => {
  const warnings = (enabled: boolean) => chartOf({ k3os: { enabled } }).brupop.warnings;
  expect(warnings(true).filter((text) => !warnings(false).includes(text))).toEqual([
    expect.stringMatching(/^k3os\.enabled: .* privileged agent/),
  ]);
});

test('where the network is limited, releases can still be asked for and downloaded', () => {
  const open = (port: number, k3os: object) => {
    const limited = manifests({
      k3os: { enabled: true, ...k3os },
      repositories: [],
      networkPolicies: { enabled: true, kubernetesApiPorts: [6443] },
    });
    const rule = JSON.stringify({ ports: [{ port, protocol: 'TCP' }] });
    return ['controller', 'agent', 'apiserver'].filter((component) =>
      find(limited, 'NetworkPolicy', `brupop-${component}`).spec.egress.some(
        (one: object) => JSON.stringify(one) === rule,
      ),
    );
  };
  expect(open(443, {})).toEqual(['controller', 'agent']);
  const elsewhere = { releasesUrl: 'http://releases.example.com:8080/api' };
  expect([open(8080, elsewhere), open(443, elsewhere)]).toEqual([['controller'], ['agent']]);
});
