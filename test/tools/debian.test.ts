import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { debianFolder } from '../../tools/debian.ts';

let dir: string;
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
  dir = await mkdtemp(join(tmpdir(), 'brupop-debian-'));
  await mkdir(join(dir, 'bin'));
  for (const [name, script] of [
    ['apt-get', APT],
    ['dpkg-deb', DPKG],
  ] as const) {
    await writeFile(join(dir, 'bin', name), script);
    await chmod(join(dir, 'bin', name), 0o755);
  }
  const PATH = [join(dir, 'bin'), process.env['PATH']].join(delimiter);
  env = { ...process.env, PATH, MACHINE: dir, XDG_CACHE_HOME: join(dir, 'cache') };
});

afterAll(() => rm(dir, { recursive: true }));

const calls = async (): Promise<number> => (await readFile(join(dir, 'calls'), 'utf8')).trim().split('\n').length;

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
