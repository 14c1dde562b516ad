import { expect, test } from '@jest/globals';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../documents.ts';

/**
 * Most KB of each program. Each is in the memory of every process that runs it, so a package that brings much has to be worth it. The plug-in runs
 * on people's machines; of its size 20 KB are logs, report, waves, versions, and the examples and JSON fields of --help.
 */
const LIMITS = { agent: 148, apiserver: 595, controller: 804, 'client-node': 200, 'kubectl-brupop': 915 };

test.each(Object.entries(LIMITS))('the bundle of %s has at most %d KB', (program, limit) => {
  expect(statSync(join(ROOT, 'build', `${program}.mjs`)).size / 1000).toBeLessThan(limit);
});

test('where the leader answers, why loads nothing that makes a plan or reads waves', async () => {
  const options = { bundle: true, splitting: true, format: 'esm', platform: 'node', packages: 'external' } as const;
  const entryPoints = ['runtime/cli/commands/why.ts'];
  const to = { outdir: 'build/why', write: false, metafile: true } as const;
  const { metafile } = await build({ ...options, ...to, absWorkingDir: ROOT, entryPoints });
  const loaded = new Set(['build/why/why.js']);
  for (const name of loaded)
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === 'import-statement') loaded.add(path);
  const files = [...loaded].flatMap((name) => Object.keys(metafile.outputs[name]?.inputs ?? {}));
  expect(files).not.toContain('runtime/controller/plan/plan.ts');
  expect(files).toContain('runtime/cli/leader-plan.ts');
  expect(files).not.toContain('runtime/cli/waves/waves.ts');
  expect(files.length).toBeLessThanOrEqual(40);
});
