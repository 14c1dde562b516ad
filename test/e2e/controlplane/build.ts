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
  for (const release of Object.keys(CERT_MANAGERS) as CertManagerRelease[]) await certManagerCrds(options, release);
  return found;
}

/** Go modules of the oldest cert-manager that is supported, which runs here, and of the newest. */
const CERT_MANAGERS = { oldest: 'cert-manager', newest: 'cert-manager-newest' } as const;
export type CertManagerRelease = keyof typeof CERT_MANAGERS;

/**
 * A file with cert-manager's own CRDs. In its older releases they are Helm templates, of which only labels are templated: those lines are
 * left out.
 */
export async function certManagerCrds(
  { env }: Pick<BuildOptions, 'env'>,
  release: CertManagerRelease = 'oldest',
): Promise<string> {
  const ours = CERT_MANAGERS[release];
  const file = join(await outputFolder(ours, PROGRAMS, env), 'crds.yaml');
  if (existsSync(file)) return file;
  const module = await sourceFolder(ours, 'github.com/cert-manager/cert-manager', env);
  const source = join(module, 'deploy', 'crds');
  const names = (await readdir(source)).filter((name) => name.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(source, name), 'utf8')));
  const plain = texts.map((text) => text.replaceAll(/^.*\{\{.*\n/gm, ''));
  await writeFile(`${file}.${process.pid}`, plain.join('---\n'));
  await rename(`${file}.${process.pid}`, file);
  return file;
}
