import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { JsonPatch } from 'cdk8s';
import * as fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../infra/monitoring/monitors.ts';
import { PrometheusSample } from '../../infra/monitoring/prometheus-sample.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { POLICY_CRD_NAME } from '../../runtime/api/policy/names.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { applyAll, type Manifest } from '../../lab/sim/world/manifests.ts';
import { anyProps } from './any-props.ts';
import { chartOf, find, manifests } from './manifests.ts';
import { CA } from './pem.ts';
import { runs } from '../random.ts';

const CRDS = new URL('../../imports/crds/', import.meta.url);

/** The definitions of other projects that the manifests build on. */
const FOREIGN_CRDS = readdirSync(CRDS).flatMap((name) =>
  parseAllDocuments(readFileSync(new URL(name, CRDS), 'utf8')).map((document) => document.toJS() as Manifest),
);

function newCluster() {
  const cluster = new EmbeddedCluster({ clock: new VirtualClock(), random: () => 0.5 });
  // That something exists already is how applying a second time finds out.
  const refusals = () => cluster.audit.filter(({ code }) => code >= 400 && code !== 409);
  return { transport: cluster.transport(ADMIN), refusals };
}

test.each<[string, BrupopProps]>([
  ['the defaults', {}],
  [
    'network policies and a window',
    {
      networkPolicies: { enabled: true },
      controller: { schedule: { kind: 'window', start: '22:00:00', stop: '04:00:00' } },
    },
  ],
  ["a user's issuer", { certificates: { kind: 'issuer', name: 'company' } }],
  ['ready-made secrets', { namespace: 'updates', certificates: { kind: 'secret', serverSecret: 'tls', caBundle: CA } }],
])('a cluster takes the manifests of %s, and takes them again', async (_, props) => {
  const { transport, refusals } = newCluster();
  const chart = chartOf(props);
  const { brupop } = chart;
  const extras = [
    new PrometheusSample(chart, 'Prometheus', { brupop }),
    new Monitors(chart, 'Monitors', { brupop }),
    new Alerts(chart, 'Alerts', { brupop }),
    new Dashboard(chart, 'Dashboard', { brupop }),
  ];
  expect(extras).toHaveLength(4);
  const objects = [...FOREIGN_CRDS, ...(chart.toJson() as Manifest[])];
  await applyAll(transport, objects);
  await applyAll(transport, objects);
  expect(refusals()).toEqual([]);
});

test('a cluster refuses a manifest with a field that its definition does not know', async () => {
  const { transport } = newCluster();
  const chart = chartOf();
  chart.brupop.certificates?.server.addJsonPatch(JsonPatch.add('/spec/dnsName', 'localhost'));
  const objects = [...FOREIGN_CRDS, ...(chart.toJson() as Manifest[])];
  await expect(applyAll(transport, objects)).rejects.toThrow('unknown field "spec.dnsName"');
});

const namespaceOf = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test('a cluster takes whatever valid props lead to', async () => {
  await fc.assert(
    fc.asyncProperty(anyProps, async (props) => {
      const { transport, refusals } = newCluster();
      const chart = chartOf(props);
      const { namespace, k3os } = chart.brupop.settings;
      const definition = find(manifests(), 'CustomResourceDefinition', POLICY_CRD_NAME);
      const existing = [
        ...(chart.brupop.namespace ? [] : [namespaceOf(namespace)]),
        ...(k3os.namespace === namespace ? [] : [namespaceOf(k3os.namespace)]),
        ...(chart.brupop.policyCrd ? [] : [definition]),
      ];
      await applyAll(transport, [...existing, ...FOREIGN_CRDS, ...(chart.toJson() as Manifest[])]);
      expect(refusals()).toEqual([]);
    }),
    runs(20),
  );
});
