import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { helmChart } from '../../infra/helm/chart.ts';
import { literalEnv, type Manifest, manifests, podSpec, workload } from './manifests.ts';

const files = helmChart();
const template = files['templates/brupop.yaml']!;
const values = parse(files['values.yaml']!) as Values;

interface Values {
  readonly [key: string]: unknown;
}

interface Release {
  readonly namespace: string;
  readonly values: Values;
}

/** What Helm does with the few expressions that the template has. */
function rendered({ namespace, values: given }: Release): string {
  return template
    .replaceAll('{{ .Release.Namespace }}', namespace)
    .replace(/\{\{ \.Values\.([\w.]+) \| (toString \| )?toJson \}\}/g, (_, path: string, asText?: string) => {
      const value = at(given, path);
      return JSON.stringify(asText ? String(value) : value);
    });
}

function at(given: Values, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => (inner as Values)[key], given);
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'brupop-helm-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function helm(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('helm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`helm ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

function templated({ namespace, values: given }: Release): string {
  writeFileSync(join(folder, 'given.json'), JSON.stringify(given));
  return helm(
    'template',
    'brupop',
    '.',
    '--namespace',
    namespace,
    '--values',
    'given.json',
    '--kube-version',
    '1.33.0',
  );
}

function objectsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

const byName = (objects: readonly Manifest[]) =>
  new Map(objects.map(({ kind, metadata, ...rest }) => [`${kind}/${metadata.name}`, { metadata, ...rest }]));

/** Empty lists and maps of a pod are none. */
const EMPTY = /"(imagePullSecrets|nodeSelector|tolerations)":(\[\]|\{\}),?/g;
const comparable = (objects: readonly Manifest[]) =>
  byName(JSON.parse(JSON.stringify(objects).replace(EMPTY, '').replaceAll(',}', '}')) as Manifest[]);

const noHelm = spawnSync('helm', ['version']).error !== undefined;
const renderers = [
  { name: 'this test', render: rendered, when: describe },
  {
    name: noHelm ? 'helm (skipped: none on the PATH)' : 'helm',
    render: templated,
    when: noHelm ? describe.skip : describe,
  },
];

for (const { name, render, when } of renderers) {
  when(`the Helm chart, rendered by ${name}`, () => {
    test('with its own values is what the constructs synthesise', () => {
      const objects = objectsIn(render({ namespace: 'updates', values }));
      expect(comparable(objects)).toEqual(byName(manifests({ namespace: 'updates', createNamespace: false })));
    });

    test('takes other values, numbers and lists among them', () => {
      const objects = objectsIn(
        render({
          namespace: 'updates',
          values: {
            image: { reference: 'mirror:5000/b@sha256:1', pullPolicy: 'Always', pullSecrets: [{ name: 'mirror' }] },
            agent: { ...(values['agent'] as object), tolerations: [{ operator: 'Exists' }] },
            apiserver: { ...(values['apiserver'] as object), replicas: 2 },
            controller: withVariable('controller', 'MAX_CONCURRENT_UPDATE', 5),
          },
        }),
      );
      expect(podSpec(objects, 'agent')).toMatchObject({
        tolerations: [{ operator: 'Exists' }],
        imagePullSecrets: [{ name: 'mirror' }],
        containers: [{ image: 'mirror:5000/b@sha256:1', imagePullPolicy: 'Always' }],
      });
      expect(workload(objects, 'apiserver').spec.replicas).toBe(2);
      expect(literalEnv(objects, 'controller')['MAX_CONCURRENT_UPDATE']).toBe('5');
    });
  });
}

function withVariable(process: string, name: string, value: unknown): object {
  const own = values[process] as { readonly env: object };
  return { ...own, env: { ...own.env, [name]: value } };
}

(noHelm ? test.skip : test)('helm lint has nothing to say against the chart', () => {
  expect(helm('lint', '--strict', '.')).toContain('0 chart(s) failed');
});

test('a variable that other parts of the manifests depend on is no value', () => {
  const names = Object.values(values).flatMap((part) => Object.keys((part as { env?: object }).env ?? {}));
  expect(names.filter((name) => /(PORT|DIR|PATH|SOCKET|LOG)$/.test(name))).toEqual([]);
});
