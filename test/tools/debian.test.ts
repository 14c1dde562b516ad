import { beforeAll, expect, test } from '@jest/globals';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { debianFolder } from '../../tools/debian.ts';
import { shared } from '../folder.ts';

let env: NodeJS.ProcessEnv;

/** A machine whose package lists are too old for the first download, and whose packages hold a file each. */
const APT = `#!/bin/sh
echo "$@" >> "$MACHINE/calls"
case $* in
  *update) touch "$MACHINE/updated" ;;
  *missing*) exit 100 ;;
  *download*) [ -e "$MACHINE/updated" ] || exit 100; shift 2; for name; do echo "$name" > "$name.deb"; done ;;
esac
`;
const DPKG = '#!/bin/sh\nmkdir -p "$3/usr/sbin" && cp "$2" "$3/usr/sbin/$(cat "$2")"\n';

beforeAll(async () => {
  await mkdir(join(shared, 'bin'));
  for (const [name, script] of [
    ['apt-get', APT],
    ['dpkg-deb', DPKG],
  ] as const) {
    await writeFile(join(shared, 'bin', name), script);
    await chmod(join(shared, 'bin', name), 0o755);
  }
  const PATH = [join(shared, 'bin'), process.env['PATH']].join(delimiter);
  env = { ...process.env, PATH, MACHINE: shared, XDG_CACHE_HOME: join(shared, 'cache') };
});

const calls = async (): Promise<number> => (await readFile(join(shared, 'calls'), 'utf8')).trim().split('\n').length;

test('packages are downloaded once, after a look at the newest lists where those here are too old', async () => {
  const told: string[] = [];
  const options = { env, progress: (line: string) => void told.push(line) };
  const folder = await debianFolder(['runc', 'iptables'], options);
  expect(await readdir(join(folder, 'usr/sbin'))).toEqual(['iptables', 'runc']);
  const before = await calls();
  expect(await debianFolder(['iptables', 'runc'], options)).toBe(folder);
  expect(await calls()).toBe(before);
  expect(told).toEqual(["unpacking Debian's iptables, runc (once)"]);
});

test('what could not be downloaded is named, and nothing is left that looks like it', async () => {
  const options = { env, progress: () => undefined };
  await expect(debianFolder(['missing'], options)).rejects.toThrow('apt-get could not download missing');
  await expect(debianFolder(['missing'], options)).rejects.toThrow('apt-get could not download missing');
});
