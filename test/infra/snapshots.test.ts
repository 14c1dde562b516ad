import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { differences, type KubeObject, nameOf, objectsIn } from '../differences.ts';
import { ROOT } from '../documents.ts';
import { everything, type Manifest, manifests } from './manifests.ts';
import { CA } from './pem.ts';

/**
 * What a change of the constructs does to the manifests, for whoever reviews it: `npm run lab -- jest test/infra/snapshots -u` writes it down.
 * The manifests of the defaults are in `dist/`, which `chart.test.ts` and `optional.test.ts` hold. Of others, what differs is told; an object
 * that is not there is compared with the one that it varies, or is told whole.
 */

const DIST = join(ROOT, 'dist');
const committed = objectsIn(join(DIST, 'brupop.k8s.yaml'));
const optional = readdirSync(join(DIST, 'optional'))
  .filter((file) => file.endsWith('.k8s.yaml'))
  .flatMap((file) => objectsIn(join(DIST, 'optional', file)));
const rules = readFileSync(join(DIST, 'optional/alerts.rules.yaml'), 'utf8');

const AGENT = 'DaemonSet/brupop-agent';
const VARIANTS = new Set([`${AGENT}-k3os`, `${AGENT}-updog`]);

/** Without the alerts' rules, which the sample of a Prometheus has as a file. */
const shortened = (object: Manifest): Manifest =>
  JSON.parse(JSON.stringify(object), (_, value: unknown) => (value === rules ? 'as in dist/' : value)) as Manifest;

function written(objects: readonly Manifest[], base: readonly KubeObject[]): string {
  const known = new Map(base.map((object) => [nameOf(object), object]));
  const changed = differences(
    base,
    objects.filter((object) => known.has(nameOf(object))),
  );
  const added = objects.filter((object) => !known.has(nameOf(object)));
  const agent = known.get(AGENT)!;
  const whole = added.map((object) => {
    if (!VARIANTS.has(nameOf(object))) return stringify(shortened(object), { lineWidth: 0 });
    return [
      `${nameOf(object)}: as ${AGENT}, but`,
      ...differences([agent], [{ ...object, metadata: { ...object.metadata, name: agent.metadata.name } }]),
      '',
    ].join('\n');
  });
  return [`${changed.join('\n')}\n`, ...whole].join('---\n').replaceAll(VERSION, 'VERSION');
}

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
  expect(written(everything(EVERYTHING), [...committed, ...optional])).toMatchSnapshot();
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
  expect(written(manifests(props), committed)).toMatchSnapshot();
});
