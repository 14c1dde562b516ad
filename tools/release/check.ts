import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { notesOf } from './changelog.ts';
import { packageVersion, VERSION_FILE } from './version.ts';

/** Everything that keeps a commit from being released under a tag, a line for each. @param root folder of the project */
export async function faultsOf(root: string, tag: string): Promise<readonly string[]> {
  const version = await packageVersion(root);
  const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const images = (await text('dist/brupop.k8s.yaml')).match(/^ +image: .*$/gm) ?? [];
  const faults: readonly [boolean, string][] = [
    [tag !== `v${version}`, `the tag: expected v${version}, as package.json has it, got ${tag}`],
    [!(await text(VERSION_FILE)).includes(`'${version}'`), `${VERSION_FILE}: expected ${version}`],
    [notesOf(await text('CHANGELOG.md'), version) === undefined, `CHANGELOG.md: expected a section ## ${version}`],
    [!images.every((line) => line.endsWith(`:${version}`)), `dist/: expected images with the tag ${version}`],
  ];
  return faults.filter(([is]) => is).map(([, fault]) => fault);
}
