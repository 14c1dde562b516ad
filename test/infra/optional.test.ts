import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { writeOptional } from '../../infra/optional.ts';
import { ROOT } from '../documents.ts';
import { shared } from '../folder.ts';
import { chartOf, type Manifest } from './manifests.ts';

/** Files for those who take the manifests as they are, and want more than the operator. */

const DIST = join(ROOT, 'dist', 'optional');
const written = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

beforeAll(() => writeOptional(join(shared, 'optional'), chartOf().brupop));

test('dist/optional holds what the constructs say', () => {
  expect(written(DIST)).toEqual(written(join(shared, 'optional')));
});

test('each file is about one thing, so that nobody gets what their cluster has no definition of', () => {
  const kinds = Object.entries(written(DIST)).flatMap(([name, text]) =>
    name.endsWith('.k8s.yaml')
      ? [[name, parseAllDocuments(text).map((document) => (document.toJS() as Manifest).kind)]]
      : [],
  );
  expect(Object.fromEntries(kinds)).toEqual({
    'alerts.k8s.yaml': ['PrometheusRule'],
    'grafana-dashboard.k8s.yaml': ['ConfigMap'],
    'monitors.k8s.yaml': ['ServiceMonitor', 'PodMonitor'],
    'people-roles.k8s.yaml': ['ClusterRole', 'ClusterRole', 'Role'],
  });
});

test('the alerts and the dashboard are there also without Kubernetes around them', () => {
  const { 'alerts.rules.yaml': rules = '', 'grafana-dashboard.json': dashboard = '', ...rest } = written(DIST);
  expect(parse(rules).groups).toEqual(parse(rest['alerts.k8s.yaml'] ?? '').spec.groups);
  const { data } = parse(rest['grafana-dashboard.k8s.yaml'] ?? '') as Manifest;
  expect(JSON.parse(dashboard)).toEqual(JSON.parse(data['brupop.json']));
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

(hasPromtool ? test : test.skip)('a Prometheus loads the alerts as they are', () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', join(DIST, 'alerts.rules.yaml')], {
    encoding: 'utf8',
  });
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
});
