import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, binaries, type BuildOptions, outputFolder, sourceFolder } from '../../../tools/go/build.ts';
import { PROGRAMS } from './programs.ts';

/** Finds every program of the control plane, and builds what is missing. @throws as `binaries` */
export function programs(options: BuildOptions): Promise<Binaries> {
  return binaries(options, PROGRAMS);
}

/** Everything that a control plane and its scenarios need; once they run, there is no network to fetch modules from. */
export async function prepared(options: BuildOptions): Promise<Binaries> {
  const found = await programs(options);
  await certManagerCrds(options);
  return found;
}

/**
 * A file with cert-manager's own CRDs. They lie in its module as Helm templates, of which only labels are templated: those lines are
 * left out.
 */
export async function certManagerCrds({ env }: Pick<BuildOptions, 'env'>): Promise<string> {
  const file = join(await outputFolder('cert-manager', PROGRAMS, env), 'crds.yaml');
  if (existsSync(file)) return file;
  const module = await sourceFolder('cert-manager', 'github.com/cert-manager/cert-manager', env);
  const source = join(module, 'deploy', 'crds');
  const names = (await readdir(source)).filter((name) => name.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(source, name), 'utf8')));
  const plain = texts.map((text) => text.replaceAll(/^.*\{\{.*\n/gm, ''));
  await writeFile(`${file}.${process.pid}`, plain.join('---\n'));
  await rename(`${file}.${process.pid}`, file);
  return file;
}
