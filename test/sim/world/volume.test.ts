import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeVolume } from '../../../sim/world/volume.ts';

let root: string;
let dir: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'brupop-volume-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  dir = await mkdtemp(join(root, 'v'));
});

const read = (name: string): Promise<string> => readFile(join(dir, name), 'utf8');
const version = (): Promise<string> => readlink(join(dir, '..data'));

test('files are read through one link, which a new version swaps', async () => {
  await writeVolume(dir, { 'tls.crt': 'one', 'tls.key': 'key of one' });
  const first = await version();
  await writeVolume(dir, { 'tls.crt': 'two', 'tls.key': 'key of two' });

  expect([await read('tls.crt'), await read('tls.key')]).toEqual(['two', 'key of two']);
  expect(await readlink(join(dir, 'tls.crt'))).toBe('..data/tls.crt');
  expect(await version()).not.toBe(first);
});

test('a reader who looked up the link keeps to one version, or finds nothing', async () => {
  await writeVolume(dir, { 'tls.crt': 'one', 'tls.key': 'key of one' });
  const first = await version();
  await writeVolume(dir, { 'tls.crt': 'two', 'tls.key': 'key of two' });
  await expect(read(join(first, 'tls.key'))).rejects.toThrow('ENOENT');
});

test('a file that is gone from the Secret is gone, and one that came is there', async () => {
  await writeVolume(dir, { 'ca.crt': 'ca', token: 'one' });
  await writeVolume(dir, { token: 'one', namespace: 'ns' });
  const names = (await readdir(dir)).filter((name) => !name.startsWith('..'));
  expect(names.toSorted()).toEqual(['namespace', 'token']);
  expect(await read('namespace')).toBe('ns');
});

test('what has not changed is not written', async () => {
  await writeVolume(dir, { token: 'one' });
  const first = await version();
  await writeVolume(dir, { token: 'one' });
  expect(await version()).toBe(first);
});

test('files have the mode of their volume, and belong to the group of their pod where root writes them', async () => {
  await writeVolume(dir, { token: 'one' }, { mode: 0o440, group: 65532 });
  const { mode, gid } = await stat(join(dir, 'token'));
  expect(mode & 0o777).toBe(0o440);
  expect(gid).toBe(process.getuid?.() === 0 ? 65532 : process.getgid?.());
});
