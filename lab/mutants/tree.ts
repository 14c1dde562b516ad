import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutated } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What the tests and the simulation read that run in process. */
const COPIED = ['lab', 'build', 'dist', 'imports', 'infra', 'runtime', 'test', 'jest.config.json', 'package.json'];

/** A copy of the tree, to be mutated; who asked for it removes it. */
export async function copyOfTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'brupop-mutants-'));
  // Nothing is built where nothing needed it.
  for (const name of COPIED.filter((folder) => existsSync(join(ROOT, folder))))
    await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** What `run` comes to in the copy with the mutation, which is taken back then. */
export async function planted<T>(copy: string, mutant: Mutant, run: () => Promise<T>): Promise<T> {
  const path = join(copy, mutant.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, mutated(text, mutant));
  try {
    return await run();
  } finally {
    await writeFile(path, text);
  }
}
