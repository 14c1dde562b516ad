import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import * as fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { BrupopChart } from '../../../infra/chart.ts';
import { helmChart } from '../../../infra/helm/chart.ts';
import type { BrupopProps } from '../../../infra/props/brupop.ts';
import { folder, shared } from '../../folder.ts';
import { runs } from '../../random.ts';
import { noHelm } from '../../shell.ts';
import { container, find, type Manifest } from '../manifests.ts';
import { CA } from '../pem.ts';
import type { Values } from './everything.ts';
import { meaning } from './meaning.ts';
import { helm, RELEASE, released, template, writeChart } from './rendered.ts';

/** Values that are null, that are not there, or that layers and umbrella charts leave behind. */

const files = helmChart('infra');
const MINUTE = 60_000;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Path of each value and group of values. Amounts are no values of their own: without one there is no request, or no limit. */
function pathsIn({ properties = {} }: Schema, parents: readonly string[] = []): string[][] {
  if (['requests', 'limits'].includes(parents.at(-1) ?? '')) return [];
  const own = Object.keys(properties).map((name) => parents.concat(name));
  return own.concat(...own.map((path) => pathsIn(properties[path.at(-1) ?? ''] ?? {}, path)));
}

const PATHS = pathsIn(JSON.parse(files['values.schema.json'] ?? '') as Schema);
const somePaths = fc.subarray(PATHS, { minLength: 1 });

function nulled(paths: readonly (readonly string[])[]): Values {
  const values: Record<string, unknown> = {};
  // Longer paths come first, so that a group that is null stays null.
  for (const path of paths.toSorted((one, other) => other.length - one.length)) put(values, path);
  return values;
}

function put(values: Record<string, unknown>, [name = '', ...rest]: readonly string[]): void {
  if (rest.length === 0) values[name] = null;
  else put((values[name] ??= {}) as Record<string, unknown>, rest);
}

function without(values: object, [name = '', ...rest]: readonly string[]): object {
  const { [name]: inner, ...others } = values as Record<string, unknown>;
  if (rest.length === 0 || typeof inner !== 'object' || inner === null) return rest.length === 0 ? others : values;
  return { ...others, [name]: without(inner, rest) };
}

function synthesised(props: BrupopProps): Map<string, unknown> {
  const all = { ...RELEASE, createNamespace: false, ...props };
  return meaning(new BrupopChart(new App(), 'brupop', all).toJson() as Manifest[]);
}

const isGroup = (path: readonly string[]): boolean =>
  PATHS.some((other) => other.length > path.length && path.every((name, index) => other[index] === name));

const WINDOW = { kind: 'window', start: '22:00:00', stop: '04:00:00' } as const;
const CRON = { kind: 'cron', expression: '0 0 20 * * Sun *' } as const;
const ISSUER = { kind: 'issuer', name: 'vault', issuerKind: 'ClusterIssuer' } as const;
const DIGEST = `sha256:${'0a'.repeat(32)}`;

(noHelm ? describe.skip : describe)(noHelm ? 'values (skipped: no helm on the PATH)' : 'values', () => {
  let initial: Map<string, unknown>;

  beforeAll(() => {
    writeChart(shared, files);
    initial = meaning(released(shared, {}));
  });

  test('leave no null in what is rendered', () => {
    // Descriptions in the definitions speak of it.
    const nulls = /: "?null"?$|[[,:]"?null"?[\],}]/m;
    for (const values of [{}, nulled(PATHS)]) expect(template(shared, values).stdout).not.toMatch(nulls);
  });

  test('all null are all default', () => {
    expect(meaning(released(shared, nulled(PATHS.filter(({ length }) => length === 1))))).toEqual(initial);
    expect(meaning(released(shared, nulled(PATHS.filter((path) => !isGroup(path)))))).toEqual(initial);
  });

  test(
    'any that are null are their defaults',
    () =>
      fc.assert(
        fc.property(somePaths, (paths) => {
          expect(meaning(released(shared, nulled(paths)))).toEqual(initial);
        }),
        { ...runs(6), interruptAfterTimeLimit: MINUTE },
      ),
    2 * MINUTE,
  );

  test(
    'any that an older values.yaml does not have are their defaults',
    () =>
      fc.assert(
        fc.property(fc.oneof(fc.constant(PATHS), somePaths), (paths) => {
          const older = paths.reduce<object>(without, parse(files['values.yaml'] ?? '') as object);
          writeChart(folder, { ...files, 'values.yaml': stringify(older) });
          expect(meaning(released(folder, {}))).toEqual(initial);
        }),
        { ...runs(6), interruptAfterTimeLimit: MINUTE },
      ),
    2 * MINUTE,
  );

  test.each<[string, Values, Values, BrupopProps]>([
    [
      'takes back what one below has set',
      { image: { digest: DIGEST }, controller: { schedule: WINDOW }, apiserver: { priorityClassName: 'gold' } },
      { image: { digest: null }, controller: { schedule: null }, apiserver: { priorityClassName: null } },
      {},
    ],
    [
      'chooses another schedule',
      { controller: { schedule: WINDOW } },
      { controller: { schedule: CRON } },
      { controller: { schedule: CRON } },
    ],
    [
      'chooses a window',
      { controller: { schedule: CRON } },
      { controller: { schedule: WINDOW } },
      { controller: { schedule: WINDOW } },
    ],
    ['chooses the CA of the operator', { certificates: ISSUER }, { certificates: { kind: 'self-signed' } }, {}],
    [
      'chooses Secrets',
      { certificates: ISSUER },
      { certificates: { kind: 'secret', serverSecret: 'tls', caBundle: CA } },
      { certificates: { kind: 'secret', serverSecret: 'tls', caBundle: CA } },
    ],
  ])('a layer above %s', (_, below, above, props) => {
    expect(meaning(released(shared, [below, above]))).toEqual(synthesised(props));
  });

  test.each<[Values, string]>([
    [{ controller: { schedule: { start: '22:00:00' } } }, 'controller.schedule.kind'],
    [{ controller: { schedule: { kind: 'window', start: '22:00:00', stop: null } } }, 'controller.schedule.stop'],
    [{ controller: { schedule: { kind: 'cron', start: '22:00:00' } } }, 'controller.schedule.expression'],
    [{ certificates: { kind: 'secret', caBundle: CA } }, 'certificates.serverSecret'],
    [{ certificates: { kind: 'secret', serverSecret: 'tls' } }, 'certificates.caBundle'],
    [{ enabled: false }, 'enabled'],
  ])('what a kind needs is asked for by its name: %j', (values, name) => {
    expect(template(shared, values)).toMatchObject({ status: 1, stderr: expect.stringContaining(`${name}: expected`) });
  });

  test('amounts may be numbers, and one that is null is taken out', () => {
    const resources = { requests: { 'ephemeral-storage': '1Gi' }, limits: { cpu: 1, memory: null } };
    expect(container(released(shared, { agent: { resources } }), 'agent').resources).toEqual({
      requests: { cpu: '10m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
      limits: { cpu: '1' },
    });
  });

  test('extra objects are of the release, as they are, and text among them is a template', () => {
    const extraObjects = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' }, data: { note: '{{ braces }}' } },
      'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}-too\n',
    ];
    const objects = released(shared, { extraObjects });
    expect(find(objects, 'ConfigMap', 'mine')).toEqual(extraObjects[0]);
    expect(find(objects, 'Secret', 'updater-too')).toMatchObject({ apiVersion: 'v1' });
  });

  test('an umbrella chart switches it, and says its registry and its Secrets', () => {
    writeChart(join(folder, 'umbrella/charts/brupop'), files);
    const dependencies = [{ name: 'brupop', version: '0.1.0', condition: 'brupop.enabled' }];
    mkdirSync(join(folder, 'umbrella'), { recursive: true });
    writeFileSync(
      join(folder, 'umbrella/Chart.yaml'),
      stringify({ apiVersion: 'v2', name: 'umbrella', version: '1.0.0', dependencies }),
    );
    const objects = (values: Values): Manifest[] => released(join(folder, 'umbrella'), values);
    expect(objects({ brupop: { enabled: false } }).filter(Boolean)).toEqual([]);
    const global = { imageRegistry: 'mirror.example.com', imagePullSecrets: ['one', { name: 'two' }], other: 1 };
    const { spec } = find(
      objects({ global, brupop: { enabled: true, image: { pullSecrets: ['one', 'own'] } } }),
      'DaemonSet',
      'brupop-agent',
    )['spec'].template;
    expect(spec.containers[0].image).toMatch(/^mirror\.example\.com\/cdk8s-brupop\/brupop:/);
    expect(spec.imagePullSecrets).toEqual([{ name: 'one' }, { name: 'own' }, { name: 'two' }]);
    const plain = objects({ global: { imageRegistry: '' }, brupop: { enabled: true, agent: null } });
    expect(meaning(plain)).toEqual(initial);
  });

  test('its linter objects to nothing, whatever is null', () => {
    writeFileSync(join(shared, 'nulls.json'), JSON.stringify(nulled(PATHS)));
    const { stdout } = helm(shared, 'lint', '--strict', '--namespace', 'updates', '--values', 'nulls.json', '.');
    expect(stdout).toContain('0 chart(s) failed');
  });
});
