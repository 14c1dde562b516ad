import { expect, test } from '@jest/globals';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import { PUBLIC_REPOSITORY } from '../../runtime/api/waves/repositories.ts';
import { find, literalEnv, manifests, podSpec } from './manifests.ts';

const MIRROR = {
  metadata: 'https://mirror.example.com:8443/{variant}/{arch}/',
  targets: 'https://mirror.example.com/targets/',
  rootSha512: 'a'.repeat(128),
};
const networkPolicies = { enabled: true };
const configOf = (props: Parameters<typeof manifests>[0]) =>
  readControllerConfig({ ...literalEnv(manifests(props), 'controller'), MY_NODE_NAME: 'n' });

test('the controller reads what the props name, in a folder of a bounded size', () => {
  expect(configOf({ repositories: [MIRROR] }).UPDATE_REPOSITORIES).toEqual([MIRROR]);
  const { UPDATE_REPOSITORIES: known, REPOSITORIES_DIR: folder } = configOf({});
  expect(known).toEqual([PUBLIC_REPOSITORY]);
  expect(podSpec(manifests(), 'controller')).toMatchObject({
    volumes: [{ name: 'repositories', emptyDir: { sizeLimit: '32Mi' } }],
    containers: [{ volumeMounts: [{ name: 'repositories', mountPath: folder }] }],
  });
});

test('it reaches the ports of repositories alone, and none without any', () => {
  const egressOf = (props: object) =>
    find(manifests({ networkPolicies, ...props }), 'NetworkPolicy', 'brupop-controller').spec.egress as object[];
  const ports = (...numbers: number[]) => ({ ports: numbers.map((port) => ({ port, protocol: 'TCP' })) });
  expect(egressOf({})).toContainEqual(ports(443));
  expect(egressOf({ repositories: [MIRROR] })).toContainEqual(ports(443, 8443));
  expect(egressOf({ repositories: [] })).toHaveLength(2);
});

test('a repository without a root is refused', () => {
  expect(() => manifests({ repositories: [{ ...MIRROR, rootSha512: undefined }] })).toThrow('repositories');
});
