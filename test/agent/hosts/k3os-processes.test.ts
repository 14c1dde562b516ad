import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChildProcesses } from '../../../runtime/agent/hosts/child-processes.ts';
import { MountedFiles } from '../../../runtime/agent/hosts/k3os/files.ts';
import { K3os } from '../../../runtime/agent/hosts/k3os/k3os.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { SimulatedHost } from '../../../lab/sim/hosts/host.ts';
import { FolderDisk } from '../../../lab/sim/hosts/k3os/disk.ts';
import { INIT_PID, K3osRoot } from '../../../lab/sim/hosts/k3os/root.ts';
import { Releases } from '../../../lab/sim/hosts/releases.ts';
import { folder } from '../../folder.ts';
import { seeded } from '../../random.ts';

/** The driver over real files and processes. */

const random = seeded(1);
let host: SimulatedHost;
let root: K3osRoot;
let life: AbortController;
let driver: K3os;
let disk: FolderDisk;

beforeEach(async () => {
  const dir = join(folder, 'root');
  life = new AbortController();
  disk = new FolderDisk(dir);
  const releases = new Releases(['1.38.0', '1.39.0']);
  const k3os = { disk, has: async (_: string, tag: string) => releases.has(tag.slice(1)) };
  const times = { prepareMs: 30, rebootMs: 50, shutdownMs: 10 };
  host = new SimulatedHost({ clock: systemClock, random, releases, version: '1.38.0', times, k3os });
  root = new K3osRoot(host, dir);
  await root.start();
  host.start(life.signal);
  driver = new K3os({
    files: new MountedFiles(dir),
    programs: new ChildProcesses({ root: dir, clock: systemClock }),
    clock: systemClock,
    random,
    readBootId: async () => host.boot?.id ?? '',
    reboot: async () => void process.kill(Number(await readFile(join(dir, INIT_PID), 'utf8')), 'SIGTERM'),
  });
  driver.takeOrder({ 'k3os.io/version': 'v1.39.0', 'k3os.io/channel': 'github-releases://rancher/k3os' });
});
afterEach(async () => {
  life.abort();
  await root.stop();
});

const link = (component: string) => disk.linkAt(`/k3os/system/${component}/current`);

test('a host is upgraded by its k3os, and rebooted by its init', async () => {
  expect(await driver.prepare('1.39.0')).toMatchObject({ state: 'Staged', staging: { nextToBoot: false } });
  expect(await driver.activate('1.39.0')).toMatchObject({ state: 'Ready', staging: { nextToBoot: true } });
  expect((await driver.os()).version).toBe('1.38.0');
  const up = new Promise((resolve) => void host.observe({ onUp: resolve }));
  await driver.reboot();
  await up;
  expect([(await driver.os()).version, link('kernel')]).toEqual(['1.39.0', 'v1.39.0']);
  expect(await driver.status()).toMatchObject({ active: { nextToBoot: true } });
});

test('one that is killed between two links is put back as it was', async () => {
  await driver.prepare('1.39.0');
  host.inject('updog-killed');
  await expect(driver.activate('1.39.0')).rejects.toMatchObject({ name: 'HostActionLostError' });
  expect([link('k3os'), link('kernel')]).toEqual([undefined, 'v1.39.0']);
  expect(await driver.deactivate()).toMatchObject({ state: 'Staged', active: { nextToBoot: true } });
  expect([link('k3os'), link('k3s'), link('kernel')]).toEqual(['v1.38.0', 'v1.38.0', 'v1.38.0']);
});

test('what its k3os says where it fails is what is told', async () => {
  await driver.prepare('1.39.0');
  host.inject('repository-gone');
  await expect(driver.activate('1.39.0')).rejects.toMatchObject({
    exit: 1,
    message: expect.stringContaining('i/o timeout'),
  });
});

test('an upgrade that still runs is waited for before its links are put back: it would undo that', async () => {
  await driver.prepare('1.39.0');
  const calledOff = new AbortController();
  const upgrade = driver.activate('1.39.0', calledOff.signal);
  const begun = new Promise<void>((resolve) => void host.observe({ onRun: () => resolve() }));
  await begun;
  calledOff.abort(new Error('called off'));
  await expect(upgrade).rejects.toThrow('called off');
  await driver.deactivate();
  expect([link('k3os'), link('k3s'), link('kernel')]).toEqual(['v1.38.0', 'v1.38.0', 'v1.38.0']);
  await driver.deactivate();
  expect(host.intervals).toHaveLength(1);
  expect(link('k3os')).toBe('v1.38.0');
});
