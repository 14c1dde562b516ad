import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Steps that give something out. Each may come again after a release that stopped half way: what is out already stays as it is. */

const isPrerelease = (version: string): boolean => version.includes('-');

/** The tag of npm's under which a version is found: nobody gets a prerelease unasked. */
export const distTag = (version: string): string => (isPrerelease(version) ? 'next' : 'latest');

/** Publishes the package; undefined where npm has this version. @param known what `npm view` says of it */
export function npmCommand(version: string, file: string, known: string): readonly string[] | undefined {
  if (known.trim() === version) return undefined;
  return ['npm', 'publish', file, '--provenance', '--access', 'public', '--tag', distTag(version)];
}

/** Creates the release with its files, or brings the files of one that is there. */
export function releaseCommand(
  version: string,
  files: readonly string[],
  { exists, notes }: { readonly exists: boolean; readonly notes: string },
): readonly string[] {
  const tag = `v${version}`;
  if (exists) return ['gh', 'release', 'upload', tag, '--clobber', ...files];
  const kind = isPrerelease(version) ? ['--prerelease'] : [];
  return ['gh', 'release', 'create', tag, '--verify-tag', ...kind, '--notes-file', notes, ...files];
}

function answer(command: readonly string[]): { readonly stdout: string; readonly ok: boolean } {
  const [file = '', ...args] = command;
  const { stdout, status } = spawnSync(file, args, { encoding: 'utf8' });
  return { stdout: stdout ?? '', ok: status === 0 };
}

function runVisibly(command: readonly string[]): void {
  const [file = '', ...args] = command;
  const { status, error } = spawnSync(file, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${file} ${args[0]} ended with ${status}`, { cause: error });
}

/** @param dir folder with the files of the release */
export function publishPackage(dir: string, version: string): void {
  const known = answer(['npm', 'view', `cdk8s-brupop@${version}`, 'version']).stdout;
  const command = npmCommand(version, join(dir, `cdk8s-brupop-${version}.tgz`), known);
  if (command) runVisibly(command);
  else process.stdout.write(`npm has ${version} already\n`);
}

/** @param dir folder with the files of the release */
export async function createRelease(dir: string, version: string): Promise<void> {
  const files = (await readdir(dir)).toSorted().map((name) => join(dir, name));
  const exists = answer(['gh', 'release', 'view', `v${version}`]).ok;
  runVisibly(releaseCommand(version, files, { exists, notes: join(dir, 'notes.md') }));
}
