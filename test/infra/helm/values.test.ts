import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { helmChart } from '../../../infra/helm/chart.ts';
import { PROCESSES } from '../manifests.ts';
import { EVERYTHING, type Values } from './everything.ts';

const files = helmChart('infra');
const schema = JSON.parse(files['values.schema.json'] ?? '') as Schema;
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
}

/** Objects whose fields are values one by one; others are taken as a whole. */
const GROUPS = new Set([
  'image',
  'logging',
  ...PROCESSES,
  'controller.schedule',
  'certificates',
  'networkPolicies',
  'notifications',
  'monitors',
  'alerts',
  'dashboard',
  'peopleRoles',
  'global',
]);

/** Path of each value that the schema knows. */
function pathsIn({ properties = {}, oneOf = [] }: Schema, parent = ''): string[] {
  const inner = Object.entries(properties).flatMap(([name, one]) => {
    const path = parent + name;
    return GROUPS.has(path) ? pathsIn(one, `${path}.`) : [path];
  });
  return [...new Set([...inner, ...oneOf.flatMap((one) => pathsIn(one, parent))])];
}

function said(values: Values, parent = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = parent + name;
    return GROUPS.has(path) && value !== null ? said(value as Values, `${path}.`) : [path];
  });
}

const values = pathsIn(schema);

/** Values that are no props: `defaults.test.ts` tries them. */
const OWN = new Set(['enabled', 'extraObjects', 'global.imagePullSecrets', 'global.imageRegistry']);

test('a value that the schema takes is tried below', () => {
  expect(new Set(Object.values(EVERYTHING).flatMap((given) => said({ ...given })))).toEqual(
    new Set(values.filter((path) => !OWN.has(path))),
  );
});

test('every value stands in the README with what it means', () => {
  const rows = files['README.md']?.matchAll(/^\| `([\w.]+)` \|.*\| \S[^|]{5,} \|$/gm) ?? [];
  const paths = Array.from(rows, ([, path]) => path);
  expect(paths).toHaveLength(values.length + 1);
  expect(new Set(paths)).toEqual(new Set([...values, 'controller.schedule']));
});

test('what the older operator’s chart has is a value that there is', () => {
  const [, table = ''] = readFileSync('docs/deploying.md', 'utf8').split('### Coming from the older operator');
  const rows = Array.from(table.matchAll(/^\| `\S+`.*?\| (.*?) \|/gm), ([, here = '']) => here);
  expect(rows).toHaveLength(12);
  const named = rows.flatMap((here) =>
    Array.from(here.matchAll(/`((?:\*|[a-z]+)\.[\w.]+)`/gi), ([, path = '']) => path),
  );
  expect(named.length).toBeGreaterThan(20);
  const paths = named.flatMap((path) => PROCESSES.map((process) => path.replace('*', process)));
  expect(paths.filter((path) => !values.includes(path))).toEqual([]);
});

test('every value stands in values.yaml, if only in a comment', () => {
  const shown = parse(files['values.yaml']?.replaceAll(/^( *)# (\w+:)$/gm, '$1$2') ?? '') as Values;
  const expected = values.filter((path) => !/^(certificates|controller\.schedule)\./.test(path));
  expect(new Set(said(shown))).toEqual(new Set([...expected, 'certificates.kind', 'controller.schedule']));
});

test('of a release, the image is named by its digest, as in the manifests', () => {
  const digest = `sha256:${'0a'.repeat(32)}`;
  const { image } = parse(helmChart('infra', { image: { digest } })['values.yaml'] ?? '') as { readonly image: Values };
  expect(image).toMatchObject({ digest });
});
