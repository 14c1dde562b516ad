import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { Yaml } from 'cdk8s';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { everything, type Manifest, manifests } from './manifests.ts';
import { CA } from './pem.ts';

/**
 * What a change of the constructs does to the manifests, for whoever reviews it: `npm run lab -- jest test/infra/snapshots -u` writes it down. The
 * manifests of the defaults are in `dist/`, which `chart.test.ts` holds: what is the same there is named only.
 */

const nameOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;
const byDefault = new Map(manifests().map((object) => [nameOf(object), object]));

function written(object: Manifest): string {
  const known = byDefault.get(nameOf(object));
  if (isDeepStrictEqual(object, known)) return `# ${nameOf(object)}: as in dist/\n`;
  // Schemas are most of all text, and no prop changes them.
  const isSame =
    object.kind === 'CustomResourceDefinition' && isDeepStrictEqual(object.spec.versions, known?.spec.versions);
  return Yaml.stringify(isSame ? { ...object, spec: { ...object.spec, versions: 'as in dist/' } } : object);
}

expect.addSnapshotSerializer({
  test: (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === 'object' && 'kind' in one),
  serialize: (objects: readonly Manifest[]) => objects.map(written).join('---\n').replaceAll(VERSION, 'VERSION'),
});

const EVERYTHING: BrupopProps = {
  image: { registry: 'mirror.example.com', pullSecrets: ['mirror'] },
  labels: { team: 'platform' },
  annotations: { owner: 'platform' },
  scrapePods: true,
  tolerateCordons: true,
  controller: {
    replicas: 2,
    maxConcurrentUpdate: '10%',
    schedule: { kind: 'cron', expression: '0 0 20 * * Sat *', timeZone: 'Europe/Berlin', windowFit: 'strict' },
    monitoringTimeInSec: 300,
    labelNodes: true,
    nodeAnnotations: true,
    nodeLifecycleConditions: 'written',
  },
  agent: { excludeFromLbWaitTimeInSec: 90 },
  apiserver: { hostNetwork: true, requireClientCertificate: true, drainPreflight: 'refuse' },
  networkPolicies: { enabled: true, kubernetesApiCidrs: ['10.0.0.0/24'], metricsNamespace: 'monitoring' },
  policies: [
    { name: 'test', nodeSelector: { matchLabels: { stage: 'test' } }, maxConcurrent: '50%' },
    { name: 'production', nodeSelector: {}, after: ['test'], zones: { atOnce: 1 }, pauseBetween: '30m' },
  ],
};

test('everything that can be switched on', () => {
  expect(everything(EVERYTHING)).toMatchSnapshot();
});

test.each<[string, BrupopProps]>([
  [
    'certificates that exist',
    { certificates: { kind: 'secret', serverSecret: 'server', caSecret: 'ca', caBundle: CA } },
  ],
  ["an issuer of the user's", { certificates: { kind: 'issuer', name: 'company', issuerKind: 'ClusterIssuer' } }],
  ['a daily window', { controller: { schedule: { kind: 'window', start: '22:00:00', stop: '04:00:00' } } }],
  [
    'another namespace that exists, another domain and another instance',
    { namespace: 'updates', createNamespace: false, clusterDomain: 'corp.example', instance: 'fleet' },
  ],
])('%s', (_, props) => {
  expect(manifests(props)).toMatchSnapshot();
});
