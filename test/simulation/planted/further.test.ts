import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../documents.ts';
import { describe, mutated } from '../../mutants/mutant.ts';
import { PLANTED } from './further.ts';

test('every text that is changed stands in the code exactly once, and no two changes are the same or have one name', () => {
  for (const mutant of PLANTED) mutated(readFileSync(join(ROOT, mutant.file), 'utf8'), mutant);
  const ways = PLANTED.map(({ file, find, replace }) => JSON.stringify({ file, find, replace }));
  expect(new Set(ways).size).toBe(ways.length);
  expect(new Set(PLANTED.map(describe)).size).toBe(ways.length);
});

test('the tests that are named are there', () => {
  expect(PLANTED.flatMap(({ tests }) => tests).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('what is looked for by storms is in a part that the simulation has', () => {
  const absent = /^runtime\/(k3os|controller\/(k3os|notifications))\/|\/one-program\.ts$/;
  expect(PLANTED.filter(({ file, unseen }) => unseen === undefined && absent.test(file)).map(describe)).toEqual([]);
});
