import { beforeEach, expect, test } from '@jest/globals';
import { chmod, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { binaries, type GoProgram, sourceFolder } from '../../../tools/go/build.ts';
import { folder as home } from '../../folder.ts';

const DAY_MS = 24 * 3600 * 1000;
const KWOK: GoProgram = { name: 'kwok', module: 'kwok', package: 'example.com/kwok' };

let built: string[];
beforeEach(async () => {
  built = [];
  // It writes its arguments into the file that it should build.
  await writeFile(join(home, 'go'), '#!/bin/sh\necho "$@" > "$3"\n');
  await chmod(join(home, 'go'), 0o755);
});

async function build(program: GoProgram, more: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = { PATH: home, XDG_CACHE_HOME: home, ...more };
  const progress = (line: string): void => void (line.startsWith('building') && built.push(program.name));
  return (await binaries({ env, progress }, [program]))[program.name] ?? '';
}

test('a program is built once', async () => {
  const file = await build(KWOK);
  expect(await build(KWOK)).toBe(file);
  expect(built).toEqual(['kwok']);
  expect(await readFile(file, 'utf8')).toContain('-trimpath -ldflags -s -w example.com/kwok');
});

test.each<[string, Partial<GoProgram>]>([
  ['of another package', { package: 'example.com/kwok/v2' }],
  ['with another variable', { variables: { version: '2' } }],
  ['with a build tag', { tags: ['no_zfs'] }],
])('a program %s is built anew', async (_, change) => {
  const files = [await build(KWOK), await build({ ...KWOK, ...change })];
  expect(new Set(files).size).toBe(2);
  expect(built).toEqual(['kwok', 'kwok']);
});

test('a program among the assets is taken as it is', async () => {
  await writeFile(join(home, 'kwok'), '');
  expect(await build(KWOK, { KUBEBUILDER_ASSETS: home })).toBe(join(home, 'kwok'));
  expect(built).toEqual([]);
});

test('a source that is not on this machine, where only programs are kept, is fetched', async () => {
  // The folder of a module that was never fetched is an empty line.
  const fetched = join(home, 'fetched');
  await writeFile(
    join(home, 'go'),
    `#!/bin/sh\nif [ "$1" = mod ]; then : > ${fetched}; else ls ${fetched} 2>&- || echo; fi\n`,
  );
  const folders = [];
  for (let asked = 0; asked < 2; asked += 1)
    folders.push(await sourceFolder('kwok', 'sigs.k8s.io/kwok', { PATH: `${home}:${process.env['PATH']}` }));
  expect(folders).toEqual([fetched, fetched]);
});

test('what nobody has used for 30 days is removed once its module is built anew, and nothing else', async () => {
  const folder = dirname(await build(KWOK));
  const cache = dirname(folder);
  const names = ['kwok-0123456789abcdef', 'kwok-fedcba9876543210', 'kwok-mine', 'kubernetes-0123456789abcdef'];
  const [old, recent, ...others] = names;
  for (const name of names) await age(join(cache, name), name === recent ? 29 : 31);
  await age(folder, 31);
  await build(KWOK);
  expect(await readdir(cache)).toContain(old);

  const anew = dirname(await build({ ...KWOK, package: 'example.com/kwok/v2' }));
  const left = [folder, anew, ...[recent, ...others].map((name) => join(cache, name ?? ''))];
  expect(new Set((await readdir(cache)).map((name) => join(cache, name)))).toEqual(new Set(left));
});

async function age(folder: string, days: number): Promise<void> {
  const used = new Date(systemClock.now() - days * DAY_MS);
  await mkdir(folder, { recursive: true });
  await utimes(folder, used, used);
}
