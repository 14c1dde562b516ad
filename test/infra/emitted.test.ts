import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { App, Yaml } from 'cdk8s';
import { parseAllDocuments } from 'yaml';
import { folder } from '../folder.ts';
import { noHelm } from '../shell.ts';
import { helm } from './helm/rendered.ts';
import { everything, type Manifest } from './manifests.ts';

test('nothing looks like a variable of Flux', () => {
  expect(Yaml.stringify(...everything())).not.toContain('${');
});

/** What `cdk8s synth --format helm` tells an app: a folder of templates beside a Chart.yaml. */
function chartFolder(): App {
  writeFileSync(join(folder, 'Chart.yaml'), Yaml.stringify({ apiVersion: 'v2', name: 'app', version: '1.0.0' }));
  return new App({ outdir: join(folder, 'templates') });
}

test('in the templates of a Helm chart all actions are those that write the braces of somebody else, and elsewhere there are none', () => {
  const inChart = Yaml.stringify(...everything({}, {}, chartFolder()));
  const written = inChart.replaceAll('{{`{{`}}', '\u0000');
  expect(written).not.toContain('{{');
  expect(written.replaceAll('\u0000', '{{')).toBe(Yaml.stringify(...everything()));
});

test('alerts say how many nodes, or which policy', () => {
  const rule = everything().find(({ kind }) => kind === 'PrometheusRule');
  const summaries = rule?.spec.groups[0].rules.map(
    (one: { annotations: { summary: string } }) => one.annotations.summary,
  );
  expect(summaries).toContain('{{ $value }} node(s) did not stay Ready after their update.');
});

(noHelm ? test.skip : test)('Helm makes the same objects of an app that is synthesised into a chart', () => {
  const app = chartFolder();
  const objects = everything({}, {}, app);
  app.synth();
  const { stdout, stderr } = helm(folder, 'template', 'x', '.');
  expect(stderr).toBe('');
  const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  const byName = (all: readonly Manifest[]) => new Map(all.map((one) => [`${one.kind}/${one.metadata.name}`, one]));
  expect(byName(rendered)).toEqual(byName(everything()));
  expect(rendered).toHaveLength(objects.length);
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
