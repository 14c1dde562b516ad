import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

const [, table = ''] = read('../../docs/security.md').split('\n## Threats\n');
const lines =
  table
    .split('\n## ')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('|')) ?? [];
/** Without its heading. */
const threats = lines.slice(2);

/** What keeps a test from running, or others beside it. */
const NOT_RUN = /\b(test|it|describe)(\.\w+)*\.(skip|todo|only|failing)\b|^\s*[xf](test|it|describe)[(.]/m;

/** Why a row is not held by the test that it names. */
function fault(row: string): string | undefined {
  const [, file, name = ''] = /\| `([\w/.-]+\.test\.ts)`: (.+?)\s*\|$/.exec(row) ?? [];
  if (file === undefined) return `names no test: ${row}`;
  const text = read(file);
  const skipped = NOT_RUN.exec(text);
  if (skipped) return `${file} does not run all of its tests: ${skipped[0]}`;
  // A test, or a table of them, is declared under the name, which a mere mention of it is not.
  const declared = new RegExp(
    String.raw`(\btest|\](?: as const)?\))\(\s*'${name.replaceAll(/[^\w\s]/g, String.raw`\$&`)}',`,
  );
  return declared.test(text) ? undefined : `${file} declares no test of this name: ${name}`;
}

test('every threat in docs/security.md names a test that is declared and runs', () => {
  expect(threats.length).toBeGreaterThan(30);
  expect(threats.flatMap((row) => fault(row) ?? [])).toEqual([]);
});

test('a row is not held by a name that is only mentioned, nor by a test that is not there', () => {
  expect(fault('| a | b | `threats.test.ts`: a name |')).toContain('declares no test');
  expect(fault('| a | b | none |')).toContain('names no test');
});
