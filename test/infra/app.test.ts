import { describe, expect, test } from '@jest/globals';
import { App, Chart, Lazy, YamlOutputType } from 'cdk8s';
import { ConfigMap } from 'cdk8s-plus-33';
import { Brupop } from '../../infra/brupop.ts';
import { BrupopChart } from '../../infra/chart.ts';
import { container, find, type Manifest, manifests, podSpec, workload } from './manifests.ts';

/** What apps do with the constructs besides giving them props. */

describe('the operators of two clusters', () => {
  const both = (yamlOutputType: YamlOutputType) => {
    const app = new App({ yamlOutputType });
    return ['one', 'two'].map((cluster) => new BrupopChart(app, cluster, { cluster, namespace: cluster }));
  };

  test('are refused where each object has a file by its kind and name, since the second would overwrite the first', () => {
    expect(() => both(YamlOutputType.FILE_PER_RESOURCE)).toThrow(
      /"one\/Operator" and "two\/Operator" .* YamlOutputType\.FILE_PER_RESOURCE/,
    );
    const app = new App({ yamlOutputType: YamlOutputType.FILE_PER_RESOURCE });
    expect(() => new BrupopChart(app, 'one')).not.toThrow();
  });

  test.each([YamlOutputType.FILE_PER_CHART, YamlOutputType.FOLDER_PER_CHART_FILE_PER_RESOURCE])(
    'are written side by side otherwise: %s',
    (type) => {
      expect(both(type).map((chart) => chart.namespace)).toEqual(['one', 'two']);
    },
  );
});

describe('a value that is known later', () => {
  const TOKEN = '${Token[TOKEN.12]}';
  const REGISTRY = '123456789012.dkr.ecr.eu-central-1.amazonaws.com';
  /** As the resolver of the AWS CDK does it. */
  const resolver = {
    resolve(context: { readonly value: unknown; replaceValue: (value: unknown) => void }): void {
      const { value } = context;
      if (typeof value === 'string' && value.includes(TOKEN)) context.replaceValue(value.replaceAll(TOKEN, REGISTRY));
    },
  };

  test('is put in its place by the resolvers of the app', () => {
    const props = { image: { registry: TOKEN }, annotations: { 'a/b': TOKEN }, clusterDomain: TOKEN };
    const objects = new BrupopChart(new App({ resolvers: [resolver] }), 'b', props).toJson() as Manifest[];
    expect(container(objects, 'agent').image).toMatch(new RegExp(`^${REGISTRY}/`));
    expect(workload(objects, 'agent').metadata.annotations).toMatchObject({ 'a/b': REGISTRY });
    expect(JSON.stringify(objects)).not.toContain('${Token');
  });

  test('may be a Lazy, of any part of the props', () => {
    const labels = Lazy.any({ produce: () => ({ team: 'nodes' }) }) as Record<string, string>;
    const replicas = Lazy.any({ produce: () => 2 }) as number;
    const objects = manifests({ labels, apiserver: { replicas } });
    expect(workload(objects, 'apiserver').spec.replicas).toBe(2);
    expect(podSpec(objects, 'apiserver')).toBeDefined();
    expect(workload(objects, 'apiserver').spec.template.metadata.labels).toMatchObject({ team: 'nodes' });
    const wrong = Lazy.any({ produce: () => 'two' }) as number;
    expect(() => manifests({ apiserver: { replicas: wrong } })).toThrow('apiserver.replicas: expected a whole number');
  });
});

test('what an app adds to the chart lives where the operator does', () => {
  const chart = new BrupopChart(new App(), 'brupop', { namespace: 'updates' });
  new ConfigMap(chart, 'Mine', { metadata: { name: 'mine' } }); // oxlint-disable-line no-new
  expect(chart.namespace).toBe('updates');
  expect(find(chart.toJson() as Manifest[], 'ConfigMap', 'mine').metadata.namespace).toBe('updates');
});

test('labels of the chart around it reach its objects and its pods, below its own', () => {
  const labels = { team: 'platform', tier: 'a', 'app.kubernetes.io/name': 'platform' };
  const chart = new Chart(new App(), 'platform', { labels });
  new Brupop(chart, 'Updates', { labels: { tier: 'b' } }); // oxlint-disable-line no-new
  for (const { metadata } of [
    workload(chart.toJson() as Manifest[], 'agent'),
    workload(chart.toJson() as Manifest[], 'agent').spec.template,
  ])
    expect(metadata.labels).toMatchObject({ team: 'platform', tier: 'b', 'app.kubernetes.io/name': 'brupop' });
});
