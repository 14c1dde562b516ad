import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type * as z from 'zod';
import { propsPage } from '../../infra/props-page.ts';
import { brupopProps } from '../../infra/props/brupop.ts';
import { updatePolicyProps } from '../../infra/props/policies.ts';
import { ROOT } from '../documents.ts';

const page = propsPage(join(ROOT, 'infra'));
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
);
const propsOf = (name: string): string[] =>
  Array.from((sections.get(name) ?? '').matchAll(/^\| `(\w+)\??` /gm), ([, prop = '']) => prop);

test('dist/props.md is what the types say', () => {
  expect(readFileSync(join(ROOT, 'dist', 'props.md'), 'utf8')).toBe(page);
});

test.each([
  ['BrupopProps', brupopProps],
  ['UpdatePolicyProps', updatePolicyProps],
])('%s has every prop that is taken', (name, schema: z.ZodObject) => {
  expect(propsOf(name).toSorted()).toEqual(Object.keys(schema.shape).toSorted());
});

test('each prop has its type, its default and its meaning, in one line', () => {
  expect(sections.get('ImageProps')).toContain('`pullPolicy?` | `');
  expect(sections.get('LoggingProps')).toMatch(
    /^\| `format\?` \| `'full' \\\| .*` \| full \| Shape of log lines\. \|$/m,
  );
  for (const [, section] of sections)
    for (const line of section.split('\n').filter((one) => one.startsWith('|')))
      expect(line.replaceAll(String.raw`\|`, '').split('|')).toHaveLength(6);
});

test('a construct beside the operator has its own table', () => {
  for (const name of ['AlertsProps', 'DashboardProps', 'MonitorsProps', 'PeopleRolesProps'])
    expect(propsOf(name)).toContain('brupop');
});
