import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mutated } from './mutant.ts';
import { MUTANTS } from './register.ts';

const inRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

test('every text that is changed stands in the code exactly once, and changing it changes the code', () => {
  for (const mutant of MUTANTS) {
    const text = readFileSync(inRoot(mutant.file), 'utf8');
    expect(mutated(text, mutant)).not.toBe(text);
  }
});

test('every mutant names tests that must notice, and they are there', () => {
  expect(MUTANTS.filter(({ tests: named }) => named.length === 0)).toEqual([]);
  const tests = MUTANTS.flatMap((mutant) => mutant.tests);
  expect(tests.filter((file) => !existsSync(inRoot(file)))).toEqual([]);
});

test('every rule of the protocol is broken by one', () => {
  const text = readFileSync(inRoot('docs/protocol.md'), 'utf8');
  const rules = Array.from(text.matchAll(/^- \*\*([LMBHFPC]\d+)\.\*\*/gm), ([, name = '']) => name);
  const broken = new Set(MUTANTS.map(({ rule }) => rule.split(' ')[0]));
  expect(rules.filter((rule) => !broken.has(rule))).toEqual([]);
});

test('no two mutants are the same', () => {
  const ways = MUTANTS.map(({ file, find, replace }) => JSON.stringify({ file, find, replace }));
  expect(new Set(ways).size).toBe(ways.length);
});

test('a text that is not in the file, or is there twice, is refused with the name of file and rule', () => {
  const mutant = { rule: 'R1', does: 'x', file: 'a.ts', find: 'one', replace: '', tests: [] };
  expect(() => mutated('two', mutant)).toThrow('a.ts: expected the text of rule "R1" once, found it 0 times: one');
  expect(() => mutated('one one', mutant)).toThrow('found it 2 times');
  expect(mutated('one two', mutant)).toBe(' two');
});
