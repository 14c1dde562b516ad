import { expect, test } from '@jest/globals';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../infra/monitoring/monitors.ts';
import { PrometheusSample } from '../../infra/monitoring/prometheus-sample.ts';
import { PeopleRoles } from '../../infra/people.ts';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { Yaml } from 'cdk8s';
import { chartOf, type Manifest } from './manifests.ts';

/** All that the package can emit. */
function everything(props: BrupopProps = {}, sample: object = {}): Manifest[] {
  const chart = chartOf({
    networkPolicies: { enabled: true },
    notifications: {
      targets: [{ name: 'chat', secret: 'chat', format: 'text', template: '{{kind}} ${subject}: {{message}}' }],
    },
    ...props,
    agent: { interfaceV1: true, ...props.agent },
    k3os: { enabled: true, ...props.k3os },
  });
  const { brupop } = chart;
  /* oxlint-disable no-new */
  new Alerts(chart, 'Alerts', { brupop });
  new Dashboard(chart, 'Dashboard', { brupop });
  new Monitors(chart, 'Monitors', { brupop });
  new PrometheusSample(chart, 'Prometheus', { brupop, ...sample });
  new PeopleRoles(chart, 'People', { brupop });
  /* oxlint-enable no-new */
  return chart.toJson() as Manifest[];
}

test('nothing looks like a variable of Flux, or like an action of a Helm template', () => {
  expect(Yaml.stringify(...everything())).not.toMatch(/\$\{|\{\{/);
});

test('texts of users, and the names of the dashboard, arrive as they are', () => {
  const texts = everything().flatMap(({ data }) => Object.values((data ?? {}) as Record<string, string>));
  const read = texts.filter((text) => text.startsWith('{')).map((text) => JSON.stringify(JSON.parse(text)));
  expect(read).toHaveLength(2);
  expect(read.join()).toContain('{{kind}} ${subject}: {{message}}');
  expect(read.join()).toContain('"uid":"${datasource}"');
});

test('each container takes its requests and limits from a prop', () => {
  const containers = (objects: readonly Manifest[]) =>
    objects.flatMap(({ kind, metadata, spec }) =>
      ['Deployment', 'DaemonSet'].includes(kind)
        ? (spec.template.spec.containers as { resources: object }[]).map(({ resources }) => [metadata.name, resources])
        : [],
    );
  const resources = {
    requests: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' },
    limits: { cpu: '2', memory: '2Gi', 'ephemeral-storage': '2Gi' },
  };
  const own = { resources };
  const props = { apiserver: own, controller: own, k3os: own, agent: { ...own, interfaceV1Resources: resources } };
  expect(containers(everything(props, own))).toEqual(containers(everything()).map(([name]) => [name, resources]));
  expect(containers(everything())).toHaveLength(6);
});
