import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { released } from './changelog.ts';

/** The version that package.json has. @param root folder of the project */
export async function packageVersion(root: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  return version;
}

export const VERSION_FILE = 'runtime/lib/version.ts';

/** Brings what states the version to what package.json says now. @param date of the release, e.g. 2026-11-22 */
export async function writeVersion(root: string, date: string): Promise<void> {
  const version = await packageVersion(root);
  await change(root, VERSION_FILE, (text) => text.replace(/VERSION = '.*'/, `VERSION = '${version}'`));
  await change(root, 'CHANGELOG.md', (text) => released(text, version, date));
  for (const path of globSync('examples/*/__snapshots__/*', { cwd: root }))
    await change(root, path, (text) =>
      text.replaceAll(/(app\.kubernetes\.io\/version: |\/brupop:).*/g, `$1${version}`),
    );
}

async function change(root: string, path: string, edit: (text: string) => string): Promise<void> {
  const file = join(root, path);
  await writeFile(file, edit(await readFile(file, 'utf8')));
}
