import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const rows = [...read('../../docs/security.md').matchAll(/^\|.*\| `([\w/-]+\.test\.ts)`: (.+?)\s*\|$/gm)];

test('every threat in docs/security.md names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(25);
  const missing = rows
    .filter(([, file = '', name = '']) => !read(file).includes(`'${name}'`))
    .map(([, , name]) => name);
  expect(missing).toEqual([]);
});
