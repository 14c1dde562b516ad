import { readFileSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../../test/documents.ts';
import { describe, type Mutant, mutated } from '../../mutants/mutant.ts';
import { MUTANTS } from '../../mutants/register.ts';
import { type Play, serve } from '../serve.ts';
import { Coverage } from './coverage.ts';

/** The code is as it is but for the mutant, which is planted where the file is loaded. */
function plant(mutant: Mutant): void {
  // Each mutant has a process of its own, which would compile the same code again.
  enableCompileCache();
  const path = join(ROOT, mutant.file);
  const planted = pathToFileURL(path).href;
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      return url === planted ? { ...loaded, source: mutated(readFileSync(path, 'utf8'), mutant) } : loaded;
    },
  });
}

/** Plays what is unchanged, and tells which mutants' texts were passed. */
async function playUnchanged(): Promise<Play> {
  const coverage = await Coverage.begin();
  const { simulate } = await import('../simulate.ts');
  const places = MUTANTS.map((mutant) => {
    const path = join(ROOT, mutant.file);
    const from = readFileSync(path, 'utf8').indexOf(mutant.find);
    return { name: describe(mutant), path, from, to: from + mutant.find.length };
  });
  return async (job, onProgress) => {
    const result = await simulate(job, onProgress);
    await coverage.look();
    const passed = places.filter(({ path, from, to }) => coverage.hasRun(path, from, to)).map(({ name }) => name);
    return { ...result, passed };
  };
}

const mutant = MUTANTS.find((one) => describe(one) === process.argv[2]);
if (mutant) plant(mutant);
serve(mutant ? (await import('../simulate.ts')).simulate : await playUnchanged());
