import { expect, test } from '@jest/globals';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../documents.ts';

/** Most KB of each program. Each is in the memory of every process that runs it, so a package that brings much has to be worth it. */
const LIMITS = { agent: 140, apiserver: 600, controller: 720, 'client-node': 200, 'kubectl-brupop': 800 };

test.each(Object.entries(LIMITS))('the bundle of %s has at most %d KB', (program, limit) => {
  expect(statSync(join(ROOT, 'build', `${program}.mjs`)).size / 1000).toBeLessThan(limit);
});
