import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../infra/monitoring/monitors.ts';
import { PrometheusSample } from '../../infra/monitoring/prometheus-sample.ts';
import { Metrics } from '../../runtime/apiserver/metrics.ts';
import { ControllerMetrics } from '../../runtime/controller/telling/metrics.ts';
import { chartOf, find, type Manifest, workload } from './manifests.ts';
import { shared } from '../folder.ts';

const chart = chartOf({ namespace: 'updates' });
const { brupop } = chart;
const sample = new PrometheusSample(chart, 'Prometheus', { brupop });
const monitors = new Monitors(chart, 'Monitors', { brupop, labels: { release: 'prometheus' } });
const alerts = new Alerts(chart, 'Alerts', { brupop, labels: { release: 'prometheus' } });
const dashboard = new Dashboard(chart, 'Dashboard', { brupop });
const objects = chart.toJson() as Manifest[];
const configText: string = find(objects, 'ConfigMap', 'brupop-prometheus')['data']['prometheus.yml'];

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** What `promtool` says of a file with this text; empty when it is content. */
function promtool(check: readonly string[], text: string): string {
  const file = join(shared, 'checked.yml');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync('promtool', ['check', ...check, file], { encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

describe('the sample Prometheus', () => {
  test('scrapes the pods of controller and apiserver by the port that they say it on', () => {
    const [job] = parse(configText).scrape_configs;
    expect(job.kubernetes_sd_configs).toEqual([{ role: 'pod', namespaces: { names: ['updates'] } }]);
    const { regex } = job.relabel_configs[0];
    const kept = (component: string, port: string) => new RegExp(`^(?:${regex})$`).test(`${component};${port}`);
    expect([kept('apiserver', 'http'), kept('brupop-controller', 'http')]).toEqual([true, true]);
    expect([kept('apiserver', 'api'), kept('agent', 'http')]).toEqual([false, false]);
  });

  test('evaluates the alerts that the Prometheus operator would get', () => {
    const [file] = parse(configText).rule_files;
    const { groups } = parse(find(objects, 'ConfigMap', 'brupop-prometheus')['data'][file]);
    expect(groups).toEqual(alerts.rule.toJson().spec.groups);
  });

  test('may find pods of one namespace and nothing else', () => {
    expect(find(objects, 'Role', 'brupop-prometheus')).toMatchObject({
      metadata: { namespace: 'updates' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
    });
    expect(
      objects.filter(({ metadata }) => metadata.name === 'brupop-prometheus').map(({ kind }) => kind),
    ).not.toContain('ClusterRole');
  });

  test('bears no label that the selectors of the operator look for', () => {
    expect(sample.deployment.toJson().spec.template.metadata.labels).not.toHaveProperty([
      'brupop.bottlerocket.aws/component',
    ]);
  });

  test('refuses what is no time, with the path of the prop', () => {
    const props = { brupop, interval: 'often' };
    expect(() => new PrometheusSample(chart, 'Other', props)).toThrow(
      'interval: expected a time such as 30s, got "often"',
    );
  });

  test('keeps samples for as long as Prometheus can say, and pulls with the operator’s secrets', () => {
    const other = chartOf({ image: { pullSecrets: ['mirror'] } });
    const { deployment } = new PrometheusSample(other, 'Sample', { brupop: other.brupop, retention: '15d' });
    const { containers, imagePullSecrets } = deployment.toJson().spec.template.spec;
    expect(containers[0].args).toContain('--storage.tsdb.retention.time=15d');
    expect(imagePullSecrets).toEqual([{ name: 'mirror' }]);
  });

  test('reaches the metrics also where the network policies let in another namespace alone', () => {
    const networkPolicies = { enabled: true, metricsNamespace: 'monitoring' };
    const guarded = chartOf({ networkPolicies, controller: { httpPort: 9000 } });
    const { deployment } = new PrometheusSample(guarded, 'Sample', { brupop: guarded.brupop });
    const readers = [{ podSelector: deployment.toJson().spec.selector }];
    const written = guarded.toJson() as Manifest[];
    for (const process of ['apiserver', 'controller'] as const) {
      const { spec } = find(written, 'NetworkPolicy', `brupop-prometheus-${process}`);
      expect(spec.podSelector).toEqual(workload(written, process).spec.selector);
      const { httpPort } = guarded.brupop.settings[process];
      expect(spec.ingress).toEqual([{ from: readers, ports: [{ protocol: 'TCP', port: httpPort }] }]);
      expect(spec.policyTypes).toEqual(['Ingress']);
    }
  });

  test('adds no policy where everybody may read, since that would be the only one', () => {
    const open = chartOf({ networkPolicies: { enabled: true } });
    expect([
      sample.networkPolicies,
      new PrometheusSample(open, 'Sample', { brupop: open.brupop }).networkPolicies,
    ]).toEqual([[], []]);
  });

  test('bears the annotations of every object and pod', () => {
    const annotated = chartOf({ annotations: { 'example.com/owner': 'us' } });
    const { deployment } = new PrometheusSample(annotated, 'Sample', { brupop: annotated.brupop });
    const { metadata, spec } = deployment.toJson();
    for (const { annotations } of [metadata, spec.template.metadata])
      expect(annotations).toEqual({ 'example.com/owner': 'us' });
  });

  test.each(['prom/prometheus', 'prom/prometheus:latest'])('refuses the image %s', (image) => {
    const other = chartOf();
    expect(() => new PrometheusSample(other, 'Prometheus', { brupop: other.brupop, image })).toThrow(
      `image: expected an image with a tag other than "latest", or with a digest, got "${image}"`,
    );
  });

  (hasPromtool ? test : test.skip)('has a configuration that promtool accepts', () => {
    expect(promtool(['config', '--syntax-only'], withStaticTargets(configText))).toBe('');
  });
});

/** Debian builds its promtool without the discovery of Kubernetes; all else in the configuration is checked. */
function withStaticTargets(text: string): string {
  const config = parse(text);
  for (const job of config.scrape_configs) {
    delete job.kubernetes_sd_configs;
    job.static_configs = [{ targets: ['localhost:8080'] }];
  }
  return stringify(config);
}

describe('monitors for the Prometheus operator', () => {
  test('lead to ports and labels that exist', () => {
    const service = find(objects, 'Service', 'brupop-controller-server');
    const { selector, endpoints } = monitors.serviceMonitor.toJson().spec;
    expect(service.metadata.labels).toMatchObject(selector.matchLabels);
    expect(service.spec.ports.map(({ name }: { name: string }) => name)).toContain(endpoints[0].port);

    const { template } = find(objects, 'Deployment', 'brupop-apiserver').spec;
    const pods = monitors.podMonitor.toJson().spec;
    expect(template.metadata.labels).toMatchObject(pods.selector.matchLabels);
    expect(template.spec.containers[0].ports.map(({ name }: { name: string }) => name)).toContain(
      pods.podMetricsEndpoints[0].port,
    );
  });

  test('may live in another namespace, and look for the operator in its own', () => {
    const other = chartOf();
    const props = { brupop: other.brupop, namespace: 'monitoring' };
    const { serviceMonitor, podMonitor } = new Monitors(other, 'Elsewhere', props);
    for (const monitor of [serviceMonitor, podMonitor]) {
      expect(monitor.toJson().metadata.namespace).toBe('monitoring');
      expect(monitor.toJson().spec.namespaceSelector).toEqual({ matchNames: ['brupop-bottlerocket-aws'] });
    }
    const rest = [new Alerts(other, 'Alerts', props).rule, new Dashboard(other, 'Dashboard', props).configMap];
    expect(rest.map((object) => object.toJson().metadata.namespace)).toEqual(['monitoring', 'monitoring']);
  });

  test('leave the labels of the operator alone', () => {
    const labels = { 'brupop.bottlerocket.aws/component': 'x' };
    expect(() => new Monitors(chart, 'Other', { brupop, labels })).toThrow(
      /labels\.brupop\.bottlerocket\.aws\/component: expected a key that is not/,
    );
  });

  test('bear the labels by which a Prometheus selects them', () => {
    for (const monitor of [monitors.serviceMonitor, monitors.podMonitor, alerts.rule])
      expect(monitor.toJson().metadata.labels).toMatchObject({ release: 'prometheus' });
  });
});

/** Names of the metrics in PromQL expressions. */
function metricsIn(expressions: readonly string[]): string[] {
  return expressions.flatMap((expression) => [...expression.matchAll(/brupop_\w+/g)].map(([name]) => name));
}

const controllerMetrics = new ControllerMetrics();
controllerMetrics.addNotifications();
const exported = [controllerMetrics.registry, new Metrics().registry]
  .flatMap((registry) => registry.getMetricsAsArray())
  .map(({ name }) => name);

describe('the dashboard', () => {
  const { panels } = JSON.parse(dashboard.configMap.toJson().data['brupop.json']);

  test('shows metrics that the processes export', () => {
    const queries = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
    expect(exported).toEqual(expect.arrayContaining(metricsIn(queries).map((name) => name.replace(/_bucket$/, ''))));
  });

  test('goes by the cluster and the policy that are chosen, and by all where metrics have no such label', () => {
    const { templating } = JSON.parse(dashboard.configMap.toJson().data['brupop.json']);
    const [, cluster, policy] = templating.list;
    expect([cluster, policy]).toMatchObject([
      { name: 'cluster', includeAll: true, allValue: '.*' },
      { name: 'policy', includeAll: true, allValue: '.*' },
    ]);
    for (const { targets } of panels as { targets: { expr: string }[] }[])
      for (const { expr } of targets) {
        const metrics = expr.match(/brupop_\w+(?=\{)/g) ?? [];
        expect(expr.match(/\{cluster=~"\$cluster"/g)).toHaveLength(metrics.length);
        expect(metrics).toEqual(metricsIn([expr]));
      }
    expect(JSON.stringify(panels)).toContain(String.raw`policy=~\"$policy\"`);
  });

  (hasPromtool ? test : test.skip)('asks in expressions that Prometheus understands', () => {
    const rules = (panels as { targets: { expr: string }[] }[]).flatMap(({ targets }, index) =>
      targets.map(({ expr }) => ({ record: `panel:${index}`, expr })),
    );
    expect(promtool(['rules'], stringify({ groups: [{ name: 'panels', rules }] }))).toBe('');
  });

  test('lays its panels side by side', () => {
    const corners = panels.map(({ gridPos: { x, y } }: { gridPos: { x: number; y: number } }) => `${x},${y}`);
    expect(new Set(corners).size).toBe(panels.length);
  });
});
