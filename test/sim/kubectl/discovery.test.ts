import { expect, test } from '@jest/globals';
import { discovery } from '../../../sim/cluster/kubectl/discovery.ts';
import { openapiV3 } from '../../../sim/cluster/kubectl/openapi.ts';
import { BUILT_IN_RESOURCES, type ResourceType } from '../../../sim/cluster/resources.ts';

const thing = (version: string): ResourceType => ({
  group: 'example.org',
  version,
  plural: 'things',
  singular: 'thing',
  kind: 'Thing',
  shortNames: ['th'],
  namespaced: true,
  subresources: ['status'],
});
const resources = [...BUILT_IN_RESOURCES, thing('v1'), thing('v2'), thing('v2beta1')];

test('the core group and the named groups are found from their roots', () => {
  expect(discovery('/api', resources)).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  const { groups } = discovery('/apis', resources) as { readonly groups: readonly { readonly name: string }[] };
  expect(groups.map(({ name }) => name)).toEqual(expect.arrayContaining(['apps', 'policy', 'example.org']));
  expect(groups.map(({ name }) => name)).not.toContain('');
});

test('of a group with several versions the newest stable one is preferred', () => {
  const group = discovery('/apis/example.org', resources) as {
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion: object;
  };
  expect(group.versions.map(({ version }) => version)).toEqual(['v2', 'v1', 'v2beta1']);
  expect(group.preferredVersion).toEqual({ groupVersion: 'example.org/v2', version: 'v2' });
});

test('a version lists its resources with short names, verbs and subresources', () => {
  const list = discovery('/apis/example.org/v2', resources) as { readonly resources: readonly object[] };
  expect(list.resources).toMatchObject([
    { name: 'things', singularName: 'thing', kind: 'Thing', namespaced: true, shortNames: ['th'] },
    { name: 'things/status', verbs: ['get', 'patch', 'update'] },
  ]);
  const core = discovery('/api/v1', resources) as { readonly resources: readonly object[] };
  expect(core.resources).toContainEqual({
    name: 'pods/eviction',
    singularName: '',
    namespaced: true,
    verbs: ['create'],
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
  });
  const reviews = discovery('/apis/authentication.k8s.io/v1', resources) as { readonly resources: readonly object[] };
  expect(reviews.resources).toContainEqual(expect.objectContaining({ name: 'tokenreviews', verbs: ['create'] }));
});

test.each(['/api/v2', '/apis/nowhere', '/apis/apps/v9', '/api/v1/pods', '/apis/apps/v1/daemonsets', '/healthz', '/'])(
  '%s is no discovery path',
  (path) => {
    expect(discovery(path, resources)).toBeUndefined();
  },
);

test('the OpenAPI index leads to a document for each version', () => {
  const { paths } = openapiV3('/openapi/v3', resources, []) as {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  };
  expect(paths['apis/example.org/v2']).toEqual({ serverRelativeURL: '/openapi/v3/apis/example.org/v2' });
  for (const { serverRelativeURL } of Object.values(paths))
    expect(openapiV3(serverRelativeURL, resources, [])).toBeDefined();
  expect(openapiV3('/openapi/v3/apis/nowhere/v1', resources, [])).toBeUndefined();
});

test('a document says that patches take fieldValidation, and has the schema of a CRD', () => {
  const schema = { type: 'object', properties: { spec: { type: 'object' } } };
  const crds = [{ group: 'example.org', kind: 'Thing', plural: 'things', versions: [{ name: 'v2', schema }] }];
  const document = openapiV3('/openapi/v3/apis/example.org/v2', resources, crds);
  const gvk = { group: 'example.org', version: 'v2', kind: 'Thing' };
  expect(document).toMatchObject({
    paths: {
      '/apis/example.org/v2/namespaces/{namespace}/things/{name}': {
        patch: {
          'x-kubernetes-group-version-kind': gvk,
          parameters: expect.arrayContaining([expect.objectContaining({ name: 'fieldValidation', in: 'query' })]),
        },
      },
    },
    components: { schemas: { 'org.example.v2.Thing': { ...schema, 'x-kubernetes-group-version-kind': [gvk] } } },
  });
});
