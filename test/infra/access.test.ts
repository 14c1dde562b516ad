import { describe, expect, test } from '@jest/globals';
import { find, literalEnv, manifests, type Process, PROCESSES } from './manifests.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const objects = manifests();

/** `resource: verbs`, sorted, as a reviewer would list them. */
function granted(kind: 'ClusterRole' | 'Role', process: Process): string[] {
  const { rules } = find(objects, kind, `brupop-${process}-role`) as unknown as { rules: readonly Rule[] };
  return rules
    .map(({ resources, resourceNames, verbs }) => {
      const names = resourceNames ? ` ${resourceNames.join()}` : '';
      return `${resources.join()}${names}: ${verbs.join(' ')}`;
    })
    .toSorted();
}

test.each(['written', 'removed'] as const)('lifecycle conditions that are to be %s take one right more', (mode) => {
  const asked = manifests({ controller: { nodeLifecycleConditions: mode } });
  const rolesOf = (all: typeof objects) => all.filter(({ kind }) => kind.endsWith('Role'));
  const more: Rule = { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] };
  const own = find(objects, 'ClusterRole', 'brupop-controller-role');
  const widened = { ...own, rules: [...(own['rules'] as readonly Rule[]), more] };
  expect(rolesOf(asked)).toEqual(rolesOf(objects).map((one) => (one === own ? widened : one)));
  expect(literalEnv(asked, 'controller')).toMatchObject({ NODE_LIFECYCLE_CONDITIONS: mode });
});

describe('each process may do what it does and no more', () => {
  test('agent', () => {
    expect(granted('ClusterRole', 'agent')).toEqual(['nodes: get']);
    expect(granted('Role', 'agent')).toEqual(['bottlerocketshadows: list watch']);
  });

  test('apiserver', () => {
    expect(granted('ClusterRole', 'apiserver')).toEqual([
      'endpointslices: list',
      'events: create patch',
      'nodes: get list watch patch',
      'persistentvolumeclaims,persistentvolumes: get',
      'poddisruptionbudgets: list',
      'pods/eviction: create',
      'pods: get list watch',
      'replicasets,statefulsets: get',
      'validatingwebhookconfigurations,mutatingwebhookconfigurations: list',
    ]);
    expect(granted('Role', 'apiserver')).toEqual([
      'bottlerocketshadows/status: patch',
      'bottlerocketshadows: get create',
    ]);
  });

  test('controller', () => {
    expect(granted('ClusterRole', 'controller')).toEqual([
      'bottlerocketreleases/status: patch',
      'bottlerocketreleases: list watch create delete',
      'bottlerocketshadows: list',
      'bottlerocketupdatepolicies/status: patch',
      'bottlerocketupdatepolicies: list watch',
      'customresourcedefinitions bottlerocketshadows.brupop.bottlerocket.aws: get',
      'customresourcedefinitions/status bottlerocketshadows.brupop.bottlerocket.aws: patch',
      'events: create patch',
      'leases kube-controller-manager,kube-scheduler: get',
      'namespaces brupop-bottlerocket-aws: get list watch',
      'nodes: get list watch patch',
    ]);
    expect(granted('Role', 'controller')).toEqual([
      'bottlerocketshadows/status: patch',
      'bottlerocketshadows: get list watch patch delete',
      'configmaps brupop-repositories-state: get patch',
      'configmaps: create',
      'leases brupop-controller: get update',
      'leases: create',
      'pods: list watch',
    ]);
  });

  test('only the apiserver asks whose token it was shown', () => {
    const delegates = objects.filter((object) => object['roleRef']?.name === 'system:auth-delegator');
    expect(delegates.map((binding) => binding['subjects'])).toEqual([
      [{ kind: 'ServiceAccount', name: 'brupop-apiserver-service-account', namespace: 'brupop-bottlerocket-aws' }],
    ]);
  });

  test('nobody reads secrets, and no rule has a wildcard', () => {
    const rules = objects.flatMap((object) => (object['rules'] ?? []) as Rule[]);
    expect(JSON.stringify(rules)).not.toContain('*');
    expect(rules.flatMap(({ resources }) => resources)).not.toContain('secrets');
  });

  test.each(PROCESSES)('%s: its roles are bound to its own account alone', (process) => {
    for (const kind of ['ClusterRoleBinding', 'RoleBinding']) {
      const binding = find(objects, kind, `brupop-${process}-role-binding`);
      expect(binding['roleRef']).toMatchObject({ kind: kind.replace('Binding', ''), name: `brupop-${process}-role` });
      expect(binding['subjects']).toEqual([
        {
          kind: 'ServiceAccount',
          name: `brupop-${process}-service-account`,
          namespace: 'brupop-bottlerocket-aws',
        },
      ]);
    }
  });
});
