import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Yaml } from 'cdk8s';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { folder } from '../folder.ts';
import { manifests, workload, PROCESSES } from '../infra/manifests.ts';
import { type Outcome, shell } from '../shell.ts';

/**
 * The Pod Security profile `restricted` as policies of Kyverno and Gatekeeper have it, written in CEL, before the workloads on the real API
 * server: the embedded one knows no CEL. Every rule that is broken is a warning.
 */
const REAL = process.env['CONTRACT_KUBECONFIG'];

const each = (rule: string): string => `variables.pod.containers.all(c, has(c.securityContext) && ${rule})`;

/** Name of each control, and what must hold. */
const CONTROLS: Readonly<Record<string, string>> = {
  'host namespaces':
    '!variables.pod.?hostNetwork.orValue(false) && !variables.pod.?hostPID.orValue(false) && !variables.pod.?hostIPC.orValue(false)',
  privileged: each('!c.securityContext.?privileged.orValue(false)'),
  'host ports': 'variables.pod.containers.all(c, c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0))',
  'host path volumes': 'variables.pod.?volumes.orValue([]).all(v, !has(v.hostPath))',
  'volume types':
    'variables.pod.?volumes.orValue([]).all(v, has(v.configMap) || has(v.csi) || has(v.downwardAPI) || has(v.emptyDir) || has(v.ephemeral) || has(v.persistentVolumeClaim) || has(v.projected) || has(v.secret))',
  'privilege escalation': each('c.securityContext.?allowPrivilegeEscalation.orValue(true) == false'),
  'running as non-root': 'variables.pod.?securityContext.?runAsNonRoot.orValue(false) == true',
  'a user other than root': 'variables.pod.?securityContext.?runAsUser.orValue(0) != 0',
  seccomp: "variables.pod.?securityContext.?seccompProfile.?type.orValue('') in ['RuntimeDefault', 'Localhost']",
  'capabilities dropped': each("c.securityContext.?capabilities.?drop.orValue([]).exists(one, one == 'ALL')"),
  'capabilities added': each("c.securityContext.?capabilities.?add.orValue([]).all(one, one == 'NET_BIND_SERVICE')"),
  'SELinux type': each(
    "c.securityContext.?seLinuxOptions.?type.orValue('') in ['', 'container_t', 'container_init_t', 'container_kvm_t']",
  ),
  'SELinux user and role': each(
    "c.securityContext.?seLinuxOptions.?user.orValue('') == '' && c.securityContext.?seLinuxOptions.?role.orValue('') == ''",
  ),
  'proc mount': each("c.securityContext.?procMount.orValue('Default') == 'Default'"),
  sysctls: 'variables.pod.?securityContext.?sysctls.orValue([]).size() == 0',
  // Beyond the profile, as such sets have it too.
  'read-only root': each('c.securityContext.?readOnlyRootFilesystem.orValue(false)'),
  'requests and memory limits':
    'variables.pod.containers.all(c, has(c.resources.requests.cpu) && has(c.resources.requests.memory) && has(c.resources.limits.memory))',
  probes: 'variables.pod.containers.all(c, has(c.livenessProbe) && has(c.readinessProbe))',
  'no latest tag': "variables.pod.containers.all(c, !c.image.endsWith(':latest') && c.image.contains(':'))",
};

const NAME = 'restricted.brupop.test';
/** Others' workloads are none of its business. */
const HOME = 'restricted-pods';
const POLICY = Yaml.stringify(
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['deployments', 'daemonsets'],
          },
        ],
      },
      variables: [{ name: 'pod', expression: 'object.spec.template.spec' }],
      validations: Object.entries(CONTROLS).map(([name, expression]) => ({ expression, message: `<${name}>` })),
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: {
      policyName: NAME,
      validationActions: ['Warn'],
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': HOME } } },
    },
  },
);

(REAL === undefined ? describe.skip : describe)(
  `restricted pods${REAL === undefined ? ' (skipped: no real API server)' : ''}`,
  () => {
    const run = (command: string): Promise<Outcome> => shell(command, { kubeconfig: REAL ?? '', home: folder });
    const remove = `kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding ${NAME} --ignore-not-found; kubectl delete namespace ${HOME} --ignore-not-found`;

    afterEach(() => run(remove));

    /** Controls that a workload breaks. */
    async function broken(object: object): Promise<readonly string[]> {
      const file = join(folder, 'object.yaml');
      await writeFile(file, Yaml.stringify(object));
      const { code, stderr } = await run(`kubectl create --dry-run=server --namespace ${HOME} -f ${file}`);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      return Array.from(stderr.matchAll(/<([^>]+)>/g), ([, name = '']) => name);
    }

    test('are those of controller and apiserver; the agent breaks what its host’s socket takes, and no more', async () => {
      const here = (props: BrupopProps) => {
        const objects = manifests(props);
        return Object.fromEntries(
          PROCESSES.map((process) => {
            const { metadata, ...object } = workload(objects, process);
            return [process, { ...object, metadata: { name: metadata.name, namespace: HOME } }];
          }),
        );
      };
      expect((await run(`kubectl create namespace ${HOME}`)).code).toBe(0);
      await writeFile(join(folder, 'policy.yaml'), POLICY);
      expect((await run(`kubectl apply -f ${join(folder, 'policy.yaml')}`)).code).toBe(0);
      const { agent, apiserver, controller } = here({}) as Record<'agent' | 'apiserver' | 'controller', object>;
      const host = here({ apiserver: { hostNetwork: true } })['apiserver']!;
      // A policy is in effect some moments after it is there.
      for (let left = 50; left > 0 && (await broken(host)).length === 0; left--) continue;
      expect(await broken(host)).toEqual(['host namespaces']);
      expect(await broken(apiserver)).toEqual([]);
      expect(await broken(controller)).toEqual([]);
      expect(await broken(agent)).toEqual([
        'host path volumes',
        'volume types',
        'SELinux type',
        'SELinux user and role',
      ]);
    });
  },
);
