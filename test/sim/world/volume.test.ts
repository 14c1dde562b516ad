import { expect, test } from '@jest/globals';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { folder } from '../../folder.ts';
import { writeVolume } from '../../../sim/world/volume.ts';

const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const version = (): Promise<string> => readlink(join(folder, '..data'));

test('files are read through one link, which a new version swaps', async () => {
  await writeVolume(folder, { 'tls.crt': 'one', 'tls.key': 'key of one' });
  const first = await version();
  await writeVolume(folder, { 'tls.crt': 'two', 'tls.key': 'key of two' });

  expect([await read('tls.crt'), await read('tls.key')]).toEqual(['two', 'key of two']);
  expect(await readlink(join(folder, 'tls.crt'))).toBe('..data/tls.crt');
  expect(await version()).not.toBe(first);
});

test('a reader who looked up the link keeps to one version, or finds nothing', async () => {
  await writeVolume(folder, { 'tls.crt': 'one', 'tls.key': 'key of one' });
  const first = await version();
  await writeVolume(folder, { 'tls.crt': 'two', 'tls.key': 'key of two' });
  await expect(read(join(first, 'tls.key'))).rejects.toThrow('ENOENT');
});

test('a file that is gone from the Secret is gone, and one that came is there', async () => {
  await writeVolume(folder, { 'ca.crt': 'ca', token: 'one' });
  await writeVolume(folder, { token: 'one', namespace: 'ns' });
  const names = (await readdir(folder)).filter((name) => !name.startsWith('..'));
  expect(names.toSorted()).toEqual(['namespace', 'token']);
  expect(await read('namespace')).toBe('ns');
});

test('what has not changed is not written', async () => {
  await writeVolume(folder, { token: 'one' });
  const first = await version();
  await writeVolume(folder, { token: 'one' });
  expect(await version()).toBe(first);
});

test('files have the mode of their volume, and belong to the group of their pod where root writes them', async () => {
  await writeVolume(folder, { token: 'one' }, { mode: 0o440, group: 65532 });
  const { mode, gid } = await stat(join(folder, 'token'));
  expect(mode & 0o777).toBe(0o440);
  expect(gid).toBe(process.getuid?.() === 0 ? 65532 : process.getgid?.());
});
