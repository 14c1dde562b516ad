import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { Metrics } from '../../runtime/apiserver/metrics.ts';
import { PUBLIC_REPOSITORY } from '../../runtime/api/waves/repositories.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { REASONS, traitsOf } from '../../runtime/controller/plan/facts/reasons.ts';
import { ControllerMetrics } from '../../runtime/controller/telling/metrics.ts';
import { fragmentsOf, ROOT } from '../documents.ts';
import { folder } from '../folder.ts';
import { chartOf } from './manifests.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

function groupsOf(props: BrupopProps = {}): readonly { readonly rules: readonly Rule[] }[] {
  const chart = chartOf(props);
  return new Alerts(chart, 'Alerts', { brupop: chart.brupop }).rule.toJson().spec.groups;
}

const groups = groupsOf();
const rules = groups.flatMap((group) => group.rules);
const names = rules.map(({ alert }) => alert);

test('ask for metrics that the processes export', () => {
  const controller = new ControllerMetrics();
  controller.addNotifications();
  const sources = { freshness: { ages: [] }, repositories: { states: [] }, clock: { now: () => 0 } } as never;
  controller.collectFrom({ preview: undefined } as never, sources);
  const exported = [controller.registry, new Metrics().registry]
    .flatMap((registry) => registry.getMetricsAsArray())
    .map(({ name }) => name);
  const asked = rules.flatMap(({ expr }) => expr.match(/brupop_\w+/g) ?? []);
  expect(exported).toEqual(expect.arrayContaining(asked));
});

test('call somebody for each verdict that the table of verdicts has an alert for', () => {
  const reasons = rules.flatMap(({ expr }) => /reason=~"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? []);
  expect(reasons.toSorted()).toEqual(REASONS.filter((reason) => traitsOf(reason).alert !== undefined).toSorted());
});

test('each have a name of their own and a severity', () => {
  expect(new Set(names).size).toBe(names.length);
  for (const { labels } of rules) expect(['critical', 'warning']).toContain(labels.severity);
});

const { homepage, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

test.each(rules)('$alert leads to a section of the documents, and names a command that is there', ({ annotations }) => {
  const docs = `${homepage.replace('#readme', '')}/blob/v${version}/docs/`;
  expect(annotations.runbook_url).toContain(docs);
  const [file = '', heading] = annotations.runbook_url.slice(docs.length).split('#');
  expect(fragmentsOf(`docs/${file}`)).toContain(heading);
  const commands = Array.from(annotations.description.matchAll(/kubectl brupop (\w+)/g), ([, name]) => name);
  expect(commands).not.toEqual([]);
  expect(COMMANDS.map(({ name }) => name)).toEqual(expect.arrayContaining(commands));
});

test.each([
  ['the default', {}, 14 * 24],
  ['a renewal two days before', { certificates: { kind: 'self-signed', renewBefore: '48h' } }, 24],
  ['a longer one than the default', { certificates: { kind: 'issuer', name: 'x', renewBefore: '2000h' } }, 14 * 24],
] as const)('with %s, a certificate that was not renewed halfway is told', (_, props, hours) => {
  const [, seconds] = /< (\d+)$/.exec(ruleOf('BrupopCertificateExpiring', groupsOf(props)).expr) ?? [];
  expect(Number(seconds) / 3600).toBe(hours);
});

function ruleOf(name: string, among = groups): Rule {
  const found = among.flatMap((group) => group.rules).find(({ alert }) => alert === name);
  if (!found) throw new Error(`there is no alert ${name}`);
  return found;
}

/** Values of a series, one a minute. */
type Series = Readonly<Record<string, string>>;
interface Case {
  readonly fires: Series;
  readonly quiet: Series;
  /** Labels of the alert besides its cluster. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Two replicas of which the first leads, as Prometheus scrapes them. */
const replicas = (metric: string, labels: string, values: string, other = values): Series => ({
  [`${metric}{${labels}instance="10.0.0.1:8080",pod="a"}`]: values,
  [`${metric}{${labels}instance="10.0.0.2:8080",pod="b"}`]: other,
});
const constant = (metric: string, labels = '') => ({
  is: (value: number): Series => replicas(metric, labels, `${value}x90`),
});

const onVerdict = (name: string): Case => {
  const reason = REASONS.find((one) => traitsOf(one).alert === name) ?? '';
  const verdicts = constant('brupop_controller_verdicts', `reason="${reason}",`);
  return { fires: verdicts.is(2), quiet: verdicts.is(0), labels: { reason } };
};
const onMetric = (metric: string, [bad, good]: readonly [number, number], label?: string): Case => {
  const series = constant(metric, label === undefined ? '' : `${label}="x",`);
  return { fires: series.is(bad), quiet: series.is(good), ...(label !== undefined && { labels: { [label]: 'x' } }) };
};
/** @param seconds by what most of the time goes to */
function lateness(isLate: string, seconds: Readonly<Record<string, string>>): Series {
  const late = Object.entries(seconds).map(([because, values]) =>
    replicas('brupop_controller_policy_late_seconds', `policy="x",because="${because}",`, values),
  );
  return Object.assign(replicas('brupop_controller_policy_will_miss_deadline', 'policy="x",', isLate), ...late);
}
const EXPIRY = 'brupop_apiserver_certificate_expiry_timestamp_seconds';
const DAYS = 24 * 3600;

/** The clock of promtool begins at 0. */
const CASES: Readonly<Record<string, Case>> = {
  BrupopPolicyHalted: onMetric('brupop_controller_policy_halted_releases', [1, 0], 'policy'),
  BrupopPolicyNotAccepted: onMetric('brupop_controller_policy_accepted', [0, 1], 'policy'),
  BrupopArrivingTooLong: onMetric('brupop_controller_overdue_arrivals', [1, 0]),
  BrupopWillMissDeadline: {
    fires: lateness('1x90', { 'Frozen (freezes)': '7200x90' }),
    quiet: lateness('0x90', {}),
    labels: { policy: 'x', because: 'Frozen (freezes)' },
  },
  BrupopWorkloadsWarned: onMetric('brupop_controller_workloads_warned', [1, 0]),
  BrupopWorkloadsNotBack: {
    fires: replicas('brupop_controller_workloads_not_back_total', '', '0x4 1x90', '0x90'),
    quiet: replicas('brupop_controller_workloads_not_back_total', '', '1x90'),
  },
  BrupopNotificationsFailing: onMetric('brupop_controller_notifications_failing', [1, 0], 'target'),
  BrupopNotificationsUnusable: onMetric('brupop_controller_notifications_config_unusable', [1, 0]),
  BrupopRepositoryFailing: onMetric('brupop_controller_repository_failing', [1, 0], 'metadata'),
  BrupopSlotsUnreadable: onMetric('brupop_controller_slots_unreadable', [1, 0]),
  BrupopNoLeader: {
    fires: replicas('brupop_controller_leader', '', '1x4 stale', '0x90'),
    quiet: replicas('brupop_controller_leader', '', '1x4 stale', '0 0 0 0 0 1x90'),
  },
  BrupopNoApiserver: {
    fires: replicas(EXPIRY, '', '9e9x4 stale'),
    quiet: replicas(EXPIRY, '', '9e9x4 stale', '9e9x90'),
  },
  BrupopCertificateExpiring: onMetric(EXPIRY, [10 * DAYS, 20 * DAYS]),
  BrupopCertificateUnusable: onMetric('brupop_apiserver_certificate_files_unusable', [1, 0]),
  ...Object.fromEntries(
    names.filter((name) => ruleOf(name).expr.includes('verdicts')).map((name) => [name, onVerdict(name)]),
  ),
};

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const withPromtool = hasPromtool ? test : test.skip;

/** Runs promtool's unit tests on the rules. */
function unitTests(tests: readonly object[]): string {
  writeFileSync(join(folder, 'alerts.yml'), stringify({ groups }));
  writeFileSync(join(folder, 'tests.yml'), stringify({ rule_files: ['alerts.yml'], evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'tests.yml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout + stderr;
}

const inCluster = (cluster: string, series: Series): object[] =>
  Object.entries(series).map(([name, values]) => ({ series: name.replace('{', `{cluster="${cluster}",`), values }));

const firing = (alert: string, time: string, samples: readonly Readonly<Record<string, string>>[]) => ({
  expr: `ALERTS{alertname="${alert}",alertstate="firing"}`,
  eval_time: time,
  exp_samples: samples.map((labels) => ({
    labels: `ALERTS{${Object.entries({
      ...labels,
      alertname: alert,
      alertstate: 'firing',
      severity: ruleOf(alert).labels.severity,
    })
      .map(([name, value]) => `${name}="${value}"`)
      .join(',')}}`,
    value: 1,
  })),
});

withPromtool('are rules that promtool accepts', () => {
  expect(unitTests([])).toBe('');
});

withPromtool.each(names)('%s fires for the cluster that it is true of, once, and for no other', (name) => {
  const { fires, quiet, labels = {} } = CASES[name] ?? { fires: {}, quiet: {} };
  const minutes = { '0m': 0, '5m': 5, '15m': 15, '30m': 30, '1h': 60 }[ruleOf(name).for] ?? 0;
  const early = minutes > 0 ? [firing(name, `${minutes - 1}m`, [])] : [];
  const input = [...inCluster('eu-1', fires), ...inCluster('eu-2', quiet)];
  const cases = [...early, firing(name, `${minutes + 10}m`, [{ cluster: 'eu-1', ...labels }])];
  expect(unitTests([{ interval: '1m', input_series: input, promql_expr_test: cases }])).toBe('');
});

withPromtool(
  'a release that has been late for a quarter of an hour is told with by how much and why, whatever that is by turns',
  () => {
    const minutes = Array.from({ length: 40 }, (_, minute) => minute);
    const byTurns = (turn: number): string =>
      minutes.map((minute) => (minute >= 10 && (minute % 4) >> 1 === turn ? '5400' : 'stale')).join(' ');
    const series = lateness('0x9 1x30', { maxConcurrent: byTurns(0), 'Frozen (freezes)': byTurns(1) });
    const told = (because: string): object => ({
      exp_labels: { ...ruleOf('BrupopWillMissDeadline').labels, cluster: 'eu-1', policy: 'x', because },
      exp_annotations: {
        ...ruleOf('BrupopWillMissDeadline').annotations,
        summary: 'Under the policy x a release will be late by 1h 30m 0s at least.',
        description: ruleOf('BrupopWillMissDeadline').annotations.description.replace('{{ $labels.because }}', because),
      },
    });
    const cases = [
      { alertname: 'BrupopWillMissDeadline', eval_time: '24m', exp_alerts: [] },
      { alertname: 'BrupopWillMissDeadline', eval_time: '26m', exp_alerts: [told('Frozen (freezes)')] },
      { alertname: 'BrupopWillMissDeadline', eval_time: '28m', exp_alerts: [told('maxConcurrent')] },
    ];
    expect(unitTests([{ interval: '1m', input_series: inCluster('eu-1', series), alert_rule_test: cases }])).toBe('');
  },
);

withPromtool('nobody is called where the public repository cannot be read', () => {
  const metadata = PUBLIC_REPOSITORY.metadata.replace('{variant}/{arch}', 'aws-k8s-1.33/x86_64');
  const series = { [`brupop_controller_repository_failing{metadata="${metadata}",pod="a"}`]: '1x90' };
  const cases = [firing('BrupopRepositoryFailing', '80m', [])];
  expect(unitTests([{ interval: '1m', input_series: inCluster('eu-1', series), promql_expr_test: cases }])).toBe('');
});

withPromtool.each(['BrupopNoLeader', 'BrupopNoApiserver'])('%s fires also where the metric was never there', (name) => {
  const nothing = { interval: '1m', promql_expr_test: [firing(name, '20m', [{}])] };
  expect(unitTests([nothing])).toBe('');
});

withPromtool('nobody leads, says also a cluster whose controllers are all gone, until a day has passed', () => {
  const series = [
    ...inCluster('eu-1', replicas('brupop_controller_leader', '', '1x4 stale')),
    ...inCluster('eu-2', { 'brupop_controller_leader{pod="a"}': '1x2000' }),
  ];
  const cases = [firing('BrupopNoLeader', '12h', [{ cluster: 'eu-1' }]), firing('BrupopNoLeader', '30h', [])];
  expect(unitTests([{ interval: '1m', input_series: series, promql_expr_test: cases }])).toBe('');
});
