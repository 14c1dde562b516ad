import { describe, expect, test } from '@jest/globals';
import { spyOn } from 'jest-mock';
import { App, Chart, Testing } from 'cdk8s';
import * as plus28 from 'cdk8s-plus-28';
import * as plus33 from 'cdk8s-plus-33';
import { Brupop } from '../../infra/brupop.ts';
import { BrupopChart } from '../../infra/chart.ts';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../infra/monitoring/monitors.ts';
import { PrometheusSample } from '../../infra/monitoring/prometheus-sample.ts';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { find, type Manifest } from './manifests.ts';

const WRONG = { replicas: 0 } as never;

describe('a refusal leaves the app as it was', () => {
  test('Brupop: another try may bear the same name', () => {
    const chart = new Chart(new App(), 'platform');
    expect(() => new Brupop(chart, 'Updates', { apiserver: WRONG })).toThrow('apiserver.replicas');
    expect(Testing.synth(chart)).toEqual([]);
    expect(() => new Brupop(chart, 'Updates')).not.toThrow();
  });

  test('BrupopChart: no empty chart is left, which would be an empty file', () => {
    const app = new App();
    expect(() => new BrupopChart(app, 'brupop', { apiserver: WRONG })).toThrow('apiserver.replicas');
    expect(app.charts).toEqual([]);
    new BrupopChart(app, 'brupop');
    expect(() => new BrupopChart(app, 'second')).toThrow('"brupop/Operator" and "second/Operator"');
    expect(app.charts).toHaveLength(1);
  });

  test.each([Alerts, Dashboard, Monitors, PrometheusSample])('%p', (Extra) => {
    const chart = new BrupopChart(new App(), 'brupop');
    const before = chart.node.findAll().length;
    expect(() => new Extra(chart, 'Extra', { brupop: chart.brupop, colour: 'red' } as never)).toThrow('colour');
    expect(chart.node.findAll()).toHaveLength(before);
  });
});

describe('the namespace', () => {
  const inChart = (namespace: string, props: BrupopProps = {}) =>
    new Brupop(new Chart(new App(), 'platform', { namespace }), 'Updates', props).settings.namespace;

  test("is the chart's own, unless the props name one", () => {
    expect(inChart('platform')).toBe('platform');
    expect(inChart('platform', { namespace: 'updates' })).toBe('updates');
  });

  test('is checked also where it is that of the chart, and nothing in the props', () => {
    expect(() => inChart('kube-system')).toThrow(
      'namespace: expected a namespace of its own (its pods may be privileged, and it is deleted with the operator), ' +
        'got nothing, which means "kube-system"',
    );
    expect(() => inChart('platform', { namespace: 'default' })).toThrow(/got "default"$/);
  });

  test.each([null, 3, [], () => ({})])('of a chart makes no props of %p', (props) => {
    expect(() => inChart('platform', props as never)).toThrow('(props): expected an object, got');
  });
});

test('a combination of props that can do harm is a warning of the app, with the path of the construct', () => {
  const emitWarning = spyOn(process, 'emitWarning').mockReturnValue();
  new BrupopChart(new App(), 'brupop', { apiserver: { replicas: 1 } });
  expect(emitWarning.mock.calls).toEqual([
    [expect.stringMatching(/^brupop\/Operator: apiserver\.replicas 1/), 'BrupopWarning'],
  ]);
  emitWarning.mockRestore();
});

describe('the service accounts', () => {
  const { brupop } = new BrupopChart(new App(), 'brupop');
  const subject = {
    kind: 'ServiceAccount',
    name: 'brupop-agent-service-account',
    namespace: 'brupop-bottlerocket-aws',
  };

  test.each([
    ['cdk8s-plus-28', plus28],
    ['cdk8s-plus-33', plus33],
  ])('can be named by a binding of %s', (_, plus) => {
    const chart = Testing.chart();
    const role = plus.ClusterRole.fromClusterRoleName(chart, 'View', 'view');
    // Typed as ISubject: it compiles without a cast.
    new plus.ClusterRoleBinding(chart, 'Viewers', { role }).addSubjects(brupop.agent.access.serviceAccount);
    const [binding] = Testing.synth(chart) as [Manifest];
    expect(binding['subjects']).toEqual([expect.objectContaining(subject)]);
  });

  test('are written as before', () => {
    const objects = Chart.of(brupop).toJson() as Manifest[];
    expect(find(objects, 'ServiceAccount', subject.name)).toMatchObject({
      apiVersion: 'v1',
      automountServiceAccountToken: false,
    });
  });
});
