import { expect, test } from '@jest/globals';
import { fatalWebhooks, lastBackendsOn } from '../../runtime/drain/webhooks.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';

/** Of an API server that has these webhooks in one configuration, all served by the Service `kyverno/web`, and its endpoints. */
const serving = (webhooks: readonly object[], endpoints: readonly object[]): KubeTransport => ({
  async request({ path, query }: KubeRequest) {
    const items = {
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations': [{ metadata: { name: 'c' }, webhooks }],
      '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': [],
      '/apis/discovery.k8s.io/v1/namespaces/kyverno/endpointslices': [{ metadata: { name: 's' }, endpoints }],
    }[path];
    if (path.includes('endpointslices'))
      expect(query).toMatchObject({ labelSelector: 'kubernetes.io/service-name=web' });
    return { metadata: { resourceVersion: '1' }, items };
  },
  watch: () => {
    throw new Error('nothing is watched');
  },
});

const clientConfig = { service: { namespace: 'kyverno', name: 'web' } };
const rule = (...resources: string[]): object => ({ apiGroups: [''], resources, operations: ['*'] });
const FATAL = { name: 'nodes.example', clientConfig, rules: [rule('nodes')] };
const ON_N1 = { nodeName: 'n1', conditions: { ready: true } };
async function found(webhooks: readonly object[], endpoints: readonly object[] = [ON_N1]): Promise<unknown> {
  const transport = serving(webhooks, endpoints);
  return lastBackendsOn(transport, 'n1', await fatalWebhooks(transport));
}

test.each([
  ['nodes', FATAL],
  ['pods', { ...FATAL, failurePolicy: 'Fail', rules: [rule('configmaps'), rule('pods')] }],
  ['evictions', { ...FATAL, rules: [rule('pods/eviction')] }],
  ['everything', { ...FATAL, rules: [{ apiGroups: ['*'], resources: ['*/*'] }] }],
])('the only ready pods behind a webhook for %s are named', async (_what, webhook) => {
  expect(await found([webhook])).toEqual([{ service: 'kyverno/web', webhooks: ['nodes.example'] }]);
});

test.each<[string, readonly object[], readonly object[]]>([
  ['that may be ignored', [{ ...FATAL, failurePolicy: 'Ignore' }], [ON_N1]],
  ['for other resources', [{ ...FATAL, rules: [rule('configmaps', 'pods/log')] }], [ON_N1]],
  [
    'for nodes of another group',
    [{ ...FATAL, rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['nodes'] }] }],
    [ON_N1],
  ],
  ['outside of the cluster', [{ ...FATAL, clientConfig: { url: 'https://example.com' } }], [ON_N1]],
  ['with a ready pod elsewhere', [FATAL], [ON_N1, { nodeName: 'n2', conditions: {} }]],
  ['whose pods are not ready anyway', [FATAL], [{ nodeName: 'n1', conditions: { ready: false } }]],
])('no webhook is named %s', async (_what, webhooks, endpoints) => {
  expect(await found(webhooks, endpoints)).toEqual([]);
});

test('a pod elsewhere that is not ready serves nobody', async () => {
  const endpoints = [ON_N1, { nodeName: 'n2', conditions: { ready: false } }];
  expect(await found([FATAL], endpoints)).toHaveLength(1);
});
