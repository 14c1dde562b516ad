import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { App, Chart, JsonPatch, Testing } from 'cdk8s';
import { parseAllDocuments } from 'yaml';
import { Brupop } from '../../infra/brupop.ts';
import { BrupopChart } from '../../infra/chart.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { chartOf, container, find, manifests, podSpec, PROCESSES, type Manifest, workload } from './manifests.ts';

const GLOBAL = new Set(['Namespace', 'PriorityClass', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleBinding']);

function homeOf({ kind }: Manifest, operator: string): string | undefined {
  return GLOBAL.has(kind) ? undefined : operator;
}

describe('the default chart', () => {
  const objects = manifests();

  // The committed manifests are the snapshot: `npm run synth` renews them, and their diff is what gets reviewed.
  test('is what dist/ holds', () => {
    const committed = readFileSync(new URL('../../dist/brupop.k8s.yaml', import.meta.url), 'utf8');
    expect(parseAllDocuments(committed).map((document) => document.toJS())).toEqual(Testing.synth(chartOf()));
  });

  test('comes out the same each time', () => {
    expect(JSON.stringify(manifests())).toBe(JSON.stringify(objects));
  });

  test('begins with the namespace that the rest lives in', () => {
    expect(objects[0]).toMatchObject({ kind: 'Namespace', metadata: { name: 'brupop-bottlerocket-aws' } });
  });

  test('names no object twice', () => {
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('labels every object as part of the operator', () => {
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'brupop',
        'app.kubernetes.io/instance': 'brupop',
        'app.kubernetes.io/version': VERSION,
        'app.kubernetes.io/component': expect.stringMatching(/^(agent|apiserver|brupop-controller|operator)$/),
        'app.kubernetes.io/managed-by': 'brupop',
        'app.kubernetes.io/part-of': 'brupop',
      });
    }
  });

  test('has no object outside of the cluster’s own and the operator’s namespace', () => {
    for (const object of objects) expect(object.metadata.namespace).toBe(homeOf(object, 'brupop-bottlerocket-aws'));
  });

  test.each(PROCESSES)('%s: the selector is one literal label that the pods bear', (process) => {
    const { selector, template } = workload(objects, process).spec;
    expect(Object.keys(selector.matchLabels)).toEqual(['brupop.bottlerocket.aws/component']);
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
  });

  test('Services, budgets and spreads select the pods of their own workload', () => {
    for (const [kind, name, process] of [
      ['Service', 'brupop-apiserver', 'apiserver'],
      ['Service', 'brupop-controller-server', 'controller'],
      ['PodDisruptionBudget', 'brupop-apiserver', 'apiserver'],
    ] as const) {
      const { selector } = find(objects, kind, name).spec;
      expect(selector.matchLabels ?? selector).toEqual(workload(objects, process).spec.selector.matchLabels);
    }
  });

  test('every reference to an account, a priority class or a role leads to an object of the chart', () => {
    for (const process of PROCESSES) {
      const spec = podSpec(objects, process);
      expect(find(objects, 'ServiceAccount', spec.serviceAccountName)).toBeDefined();
      expect(find(objects, 'PriorityClass', spec.priorityClassName)).toBeDefined();
    }
    for (const binding of objects.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
      if (binding['roleRef'].name !== 'system:auth-delegator')
        expect(find(objects, binding['roleRef'].kind, binding['roleRef'].name)).toBeDefined();
      expect(find(objects, 'ServiceAccount', binding['subjects'][0].name)).toBeDefined();
    }
  });
});

describe('in a foreign app', () => {
  test('any namespace reaches every place that names it', () => {
    const text = JSON.stringify(manifests({ namespace: 'updates' }));
    expect(text).not.toContain('brupop-bottlerocket-aws');
    expect(text).toContain('*.updates.svc.cluster.local');
    expect(text).toContain('updates/brupop-apiserver-certificate');
  });

  test('a namespace that exists is not created', () => {
    expect(manifests({ createNamespace: false }).map(({ kind }) => kind)).not.toContain('Namespace');
  });

  test('a CustomResourceDefinition that somebody else installs is not created', () => {
    expect(manifests({ createCrd: false }).map(({ kind }) => kind)).not.toContain('CustomResourceDefinition');
  });

  test("a chart's own namespace stays away from objects that live in none", () => {
    const chart = new Chart(new App(), 'platform', { namespace: 'platform' });
    const { settings } = new Brupop(chart, 'Updates');
    for (const object of chart.toJson() as Manifest[]) {
      const { kind, metadata } = object;
      expect([kind, metadata.namespace]).toEqual([kind, homeOf(object, settings.namespace)]);
    }
  });

  test('a patch reaches any field of any part, known to the typed classes or not', () => {
    const chart = chartOf();
    const { brupop } = chart;
    brupop.agent.daemonSet.addJsonPatch(
      JsonPatch.add('/spec/template/spec/containers/0/resizePolicy', [
        { resourceName: 'memory', restartPolicy: 'NotRequired' },
      ]),
    );
    const { resizePolicy } = container(chart.toJson() as Manifest[], 'agent');
    expect(resizePolicy).toHaveLength(1);
  });

  test('two operators for one cluster are refused with both their paths', () => {
    const app = new App();
    const first = new BrupopChart(app, 'one');
    expect(first.brupop.node.path).toBe('one/Operator');
    expect(() => new BrupopChart(app, 'two', { namespace: 'elsewhere' })).toThrow(
      /"one\/Operator" and "two\/Operator"/,
    );
  });

  test('one app may hold the operators of several clusters', () => {
    const app = new App();
    const charts = ['one', 'two'].map((cluster) => new BrupopChart(app, cluster, { cluster }));
    expect(charts[0]?.toJson()).toEqual(charts[1]?.toJson());
  });

  test('labels and annotations reach every object and every pod', () => {
    const objects = manifests({ labels: { team: 'nodes' }, annotations: { 'example.com/owner': 'us' } });
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject({ team: 'nodes' });
      expect(metadata.annotations).toMatchObject({ 'example.com/owner': 'us' });
    }
    for (const process of PROCESSES) {
      const { selector, template } = workload(objects, process).spec;
      expect(template.metadata).toMatchObject({
        labels: { team: 'nodes' },
        annotations: { 'example.com/owner': 'us' },
      });
      expect(selector.matchLabels).not.toHaveProperty('team');
    }
  });
});
