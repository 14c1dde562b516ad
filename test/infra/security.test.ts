import { describe, expect, test } from '@jest/globals';
import { faults } from './faults.ts';
import {
  container,
  find,
  literalEnv,
  manifests,
  podSpec,
  type Process,
  PROCESSES,
  type Manifest,
  workload,
} from './manifests.ts';
import { scaled } from '../../lab/sim/kubernetes/pods.ts';
import { CA } from './pem.ts';

const objects = manifests();

const PLAIN_VOLUMES = new Set(['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'projected', 'secret']);

/** What the Pod Security profile "restricted" asks of a pod and this one does not give. */
function violations(process: (typeof PROCESSES)[number]): string[] {
  const spec = podSpec(objects, process);
  const { securityContext } = container(objects, process);
  const volumes = ((spec.volumes ?? []) as Record<string, unknown>[]).flatMap((source) =>
    Object.keys(source).filter((key) => key !== 'name'),
  );
  const found: readonly (readonly [boolean, string])[] = [
    [['hostNetwork', 'hostPID', 'hostIPC'].some((key) => spec[key]), 'host namespaces'],
    [securityContext.privileged === true, 'privileged'],
    [securityContext.allowPrivilegeEscalation !== false, 'privilege escalation'],
    [JSON.stringify(securityContext.capabilities) !== '{"drop":["ALL"]}', 'capabilities'],
    [spec.securityContext.runAsNonRoot !== true || spec.securityContext.runAsUser === 0, 'root'],
    [spec.securityContext.seccompProfile?.type !== 'RuntimeDefault', 'seccomp'],
    [securityContext.seLinuxOptions !== undefined, 'SELinux options'],
    ...volumes.map((type) => [!PLAIN_VOLUMES.has(type), `volume ${type}`] as const),
  ];
  return found.flatMap(([applies, text]) => (applies ? [text] : []));
}

describe('pod security', () => {
  test('controller and apiserver meet the restricted profile', () => {
    expect([violations('controller'), violations('apiserver')]).toEqual([[], []]);
  });

  test("the agent deviates by its host's socket and the SELinux type for it alone", () => {
    expect(violations('agent')).toEqual(['SELinux options', 'volume hostPath']);
  });

  test('the agent mounts the socket as a file and no other part of its host', () => {
    const hostPaths = podSpec(objects, 'agent').volumes.filter((volume: object) => 'hostPath' in volume);
    expect(hostPaths.map(({ hostPath }: { hostPath: object }) => hostPath)).toEqual([
      { path: '/run/api.sock', type: 'Socket' },
    ]);
  });

  test('no private key lies on every node', () => {
    const { secret } = podSpec(objects, 'agent').volumes.find((volume: object) => 'secret' in volume);
    expect(secret.items).toEqual([{ key: 'ca.crt', path: 'ca.crt' }]);
  });

  test('where agents must show a certificate they have theirs, never the key of the server', () => {
    const strict = manifests({ apiserver: { requireClientCertificate: true } });
    const { secret } = podSpec(strict, 'agent').volumes.find((volume: object) => 'secret' in volume);
    expect(secret).toMatchObject({
      secretName: 'brupop-apiserver-client-certificate',
      items: ['ca.crt', 'tls.crt', 'tls.key'].map((name) => ({ key: name, path: name })),
    });
    expect(literalEnv(strict, 'apiserver')).toMatchObject({ REQUIRE_CLIENT_CERTIFICATE: 'true' });
    expect(literalEnv(strict, 'agent')).toMatchObject({ PRESENT_CLIENT_CERTIFICATE: 'true' });
    const caBundle = CA;
    const own = { kind: 'secret', serverSecret: 'server', caBundle } as const;
    const apiserver = { requireClientCertificate: true };
    expect(() => manifests({ apiserver, certificates: own })).toThrow(
      "certificates.caSecret: expected a Secret other than the server's, with a certificate for agents",
    );
    expect(() => manifests({ apiserver, certificates: { ...own, caSecret: 'agents' } })).not.toThrow();
  });

  test('the namespace admits the agent', () => {
    expect(find(objects, 'Namespace', 'brupop-bottlerocket-aws').metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'privileged',
      'pod-security.kubernetes.io/warn': 'privileged',
      'pod-security.kubernetes.io/audit': 'privileged',
    });
  });

  test.each(PROCESSES)('%s: nothing writes to the root file system', (process) => {
    expect(container(objects, process).securityContext.readOnlyRootFilesystem).toBe(true);
  });

  test('a default token exists in no pod that did not ask for it', () => {
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts.map((account) => account['automountServiceAccountToken'])).toEqual([false, false, false]);
  });
});

describe('resources', () => {
  test.each(PROCESSES)('%s: memory is bounded, processor time is not', (process) => {
    const { requests, limits } = container(objects, process).resources;
    expect(Object.keys(requests)).toEqual(['cpu', 'memory']);
    expect(Object.keys(limits)).toEqual(['memory']);
  });

  test('an agent asks for no more than the pages of its binary and heap need', () => {
    expect(container(objects, 'agent').resources).toMatchObject({
      requests: { memory: '64Mi' },
      limits: { memory: '128Mi' },
    });
  });
});

describe('the operator in its own drains', () => {
  test.each(['apiserver', 'controller'] as const)('%s: stays away from nodes that are being updated', (process) => {
    const spec = podSpec(objects, process);
    // Else a drain of another tool would never end, because what it evicts would be put on the same node again.
    const cordoned = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' };
    expect(spec.tolerations ?? []).not.toContainEqual(cordoned);
    expect(podSpec(manifests({ tolerateCordons: true }), process).tolerations).toContainEqual(cordoned);
    expect(spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution).toEqual([
      {
        weight: 100,
        preference: { matchExpressions: [{ key: 'brupop.bottlerocket.aws/updating', operator: 'DoesNotExist' }] },
      },
    ]);
  });

  test.each(['apiserver', 'controller'] as const)(
    '%s: is not kept out by the taint of machines that join, which goes by its work',
    (process) => {
      const arrivingTaint = 'example.com/joins';
      expect(podSpec(manifests({ controller: { arrivingTaint } }), process).tolerations).toEqual([
        { key: arrivingTaint, operator: 'Exists', effect: 'NoSchedule' },
      ]);
    },
  );

  test.each(['apiserver', 'controller'] as const)(
    '%s: its replicas keep to different hosts where they can',
    (process) => {
      const { podAntiAffinity } = podSpec(objects, process).affinity;
      expect(podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution).toContainEqual({
        weight: 50,
        podAffinityTerm: {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: workload(objects, process).spec.selector,
        },
      });
    },
  );

  test('a broken apiserver does not keep the others where they are, of which one stays, and a single one may leave', () => {
    const { spec } = find(objects, 'PodDisruptionBudget', 'brupop-apiserver');
    expect(spec.unhealthyPodEvictionPolicy).toBe('AlwaysAllow');
    const mayLeave = (replicas: number): number => scaled(spec.maxUnavailable, replicas);
    expect([1, 2, 3].map(mayLeave)).toEqual([1, 1, 2]);
  });

  test('the controller is replaced and never doubled', () => {
    expect(workload(objects, 'controller').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  test('agents run on managed nodes of both architectures', () => {
    const { nodeSelectorTerms } = podSpec(objects, 'agent').affinity.nodeAffinity
      .requiredDuringSchedulingIgnoredDuringExecution;
    expect(nodeSelectorTerms).toEqual([
      {
        matchExpressions: [
          { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
          { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
          { key: 'bottlerocket.aws/updater-interface-version', operator: 'In', values: ['2.0.0'] },
        ],
      },
    ]);
  });
});

describe('the image', () => {
  const DIGEST = `sha256:${'0a'.repeat(32)}`;

  test('bears the version of the package and never "latest"', () => {
    expect(container(objects, 'agent').image).toMatch(/^ghcr\.io\/cdk8s-brupop\/brupop:\d+\.\d+\.\d+/);
    expect(() => manifests({ image: { tag: 'latest' } })).toThrow(
      'image.tag: expected a tag other than "latest", got "latest"',
    );
  });

  test('is named by its digest where there is one', () => {
    const mirrored = manifests({
      image: { registry: 'mirror.example.com:5000', repository: 'os/brupop', digest: DIGEST },
    });
    for (const process of PROCESSES)
      expect(container(mirrored, process).image).toBe(`mirror.example.com:5000/os/brupop@${DIGEST}`);
  });

  test('is pulled with the given secrets and policy', () => {
    const pulled = manifests({ image: { pullSecrets: ['registry'], pullPolicy: 'Always' } });
    for (const process of PROCESSES) {
      expect(podSpec(pulled, process).imagePullSecrets).toEqual([{ name: 'registry' }]);
      expect(container(pulled, process).imagePullPolicy).toBe('Always');
    }
  });
});

describe('network policies', () => {
  const policies = (from: readonly Manifest[]) => from.filter(({ kind }) => kind === 'NetworkPolicy');

  test('exist where they are asked for', () => {
    expect(policies(objects)).toEqual([]);
    expect(policies(manifests({ networkPolicies: { enabled: true } }))).toHaveLength(3);
  });

  test('open the ports of each process and no others', () => {
    const guarded = manifests({ networkPolicies: { enabled: true } });
    for (const process of PROCESSES) {
      const ports = container(guarded, process).ports.map(
        ({ containerPort }: { containerPort: number }) => containerPort,
      );
      const { ingress, podSelector } = find(guarded, 'NetworkPolicy', `brupop-${process}`).spec;
      const opened = ingress.flatMap((rule: { ports: { port: number }[] }) => rule.ports.map(({ port }) => port));
      // Probes come from the node, which is let in by every policy; nobody else has business with an agent.
      expect(opened).toEqual(process === 'agent' ? [] : ports);
      for (const rule of ingress) expect(rule).not.toHaveProperty('from');
      expect(podSelector).toEqual(workload(guarded, process).spec.selector);
    }
  });

  test('let agents out to the port at which the apiserver listens, behind its Service', () => {
    const apiserver = { internalPort: 9001, servicePort: 9002, httpPort: 9003 };
    const guarded = manifests({ apiserver, networkPolicies: { enabled: true } });
    const to = [{ podSelector: workload(guarded, 'apiserver').spec.selector }];
    const { egress } = find(guarded, 'NetworkPolicy', 'brupop-agent').spec;
    expect(egress).toContainEqual({ to, ports: [{ protocol: 'TCP', port: 9001 }] });
  });

  test('let in none but those who are named', () => {
    const named = { enabled: true, kubernetesApiCidrs: ['10.0.0.0/24', 'fd00::/64'], metricsNamespace: 'monitoring' };
    const guarded = manifests({ networkPolicies: named });
    const callers = (process: Process) =>
      find(guarded, 'NetworkPolicy', `brupop-${process}`).spec.ingress.map(({ from }: { from: unknown }) => from);
    const agents = { podSelector: workload(guarded, 'agent').spec.selector };
    const readers = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
    const api = [agents, { ipBlock: { cidr: '10.0.0.0/24' } }, { ipBlock: { cidr: 'fd00::/64' } }];
    expect(callers('apiserver')).toEqual([api, readers]);
    expect(callers('controller')).toEqual([[...readers, ...api.slice(1)]]);
  });

  test.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'api.example.com/24', '10.0.0.0/08', 'fe80::1%eth0/64'])(
    'refuse the range %s',
    (range) => {
      expect(faults({ networkPolicies: { kubernetesApiCidrs: [range] } })[0]).toMatch(
        /^networkPolicies\.kubernetesApiCidrs\.0: expected a range of addresses such as 10\.0\.0\.0\/16, got/,
      );
    },
  );
});
