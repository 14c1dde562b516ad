import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { chmod, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChildProcesses, chrootInto } from '../../../../runtime/agent/hosts/child-processes.ts';
import { Updog } from '../../../../runtime/agent/hosts/updog/updog.ts';
import { systemClock } from '../../../../runtime/lib/clock.ts';
import { SimulatedHost } from '../../../../lab/sim/hosts/host.ts';
import { Releases } from '../../../../lab/sim/hosts/releases.ts';
import { HostRoot } from '../../../../lab/sim/hosts/root.ts';
import { folder } from '../../../folder.ts';
import { until } from '../../../in-time.ts';
import { seeded } from '../../../random.ts';

/** The driver over real processes: programs of the simulated host as files, run in its root. */

const TIMES = { refreshMs: 20, prepareMs: 40, rebootMs: 50, shutdownMs: 10 };
const random = seeded(1);

describe('programs in the root of a host', () => {
  let host: SimulatedHost;
  let root: HostRoot;
  let life: AbortController;
  let programs: ChildProcesses;
  let driver: Updog;

  beforeEach(async () => {
    life = new AbortController();
    const releases = new Releases(['1.38.0', '1.39.0']);
    host = new SimulatedHost({ clock: systemClock, random, releases, version: '1.38.0', times: TIMES });
    root = new HostRoot(host, join(folder, 'root'));
    host.start(life.signal);
    await root.start();
    programs = new ChildProcesses({ prefix: chrootInto(join(folder, 'root')), clock: systemClock });
    driver = new Updog({
      programs,
      clock: systemClock,
      random,
      readOsRelease: async () => host.osRelease,
      readBootId: async () => host.boot?.id ?? '',
    });
  });
  afterEach(async () => {
    life.abort();
    await root.stop();
  });

  test('a host is updated by them', async () => {
    expect((await driver.refresh()).chosen?.version).toBe('1.39.0');
    expect(await driver.prepare('1.39.0')).toMatchObject({ state: 'Staged', staging: { nextToBoot: false } });
    expect(await driver.activate('1.39.0')).toMatchObject({ state: 'Ready', staging: { nextToBoot: true } });
    const up = new Promise((resolve) => void host.observe({ onUp: resolve }));
    await driver.reboot();
    await up;
    expect((await driver.os()).version).toBe('1.39.0');
    expect((await driver.refresh()).chosen).toBeUndefined();
  });

  test('one that is killed half-way leaves nothing that could be activated, and is no success', async () => {
    await driver.refresh();
    host.inject('updog-killed');
    await expect(driver.prepare('1.39.0')).rejects.toMatchObject({ name: 'HostActionLostError' });
    await expect(driver.activate('1.39.0')).rejects.toMatchObject({ name: 'UpdateGoneError' });
    await driver.prepare('1.39.0');
  });

  test('what an activation did before it was killed is on the disk', async () => {
    await driver.refresh();
    await driver.prepare('1.39.0');
    host.inject('half-open');
    const killed = await programs.run(['/usr/bin/updog', 'update-apply'], 1500);
    expect(killed).toMatchObject({ exit: undefined, overdue: true });
    expect(await driver.activate('1.39.0')).toMatchObject({ state: 'Ready' });
  });

  test('an image without updog has no updates in place', async () => {
    host.inject('dispatcher-missing');
    await expect(driver.refresh()).rejects.toMatchObject({ name: 'UpdatesUnsupportedError' });
  });
});

function isDead(pid: number): boolean {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('a program', () => {
  const run = async (script: string, timeoutMs = 10_000) => {
    const file = join(folder, 'program');
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return new ChildProcesses({ prefix: [], clock: systemClock }).run([file, 'x y'], timeoutMs);
  };

  test('is told its arguments as they are, and nothing of the agent but where programs are', async () => {
    const { exit, stdout, stderr } = await run('echo "$1"; echo "$TERM $HOME" >&2; exit 3');
    expect({ exit, stdout, stderr }).toEqual({ exit: 3, stdout: 'x y\n', stderr: 'xterm \n' });
  });

  test('that hangs is killed with all that it has started, and what it said is kept', async () => {
    const { stdout, ...ended } = await run('sleep 60 & echo "begun $!"; wait', 100);
    expect(ended).toMatchObject({ exit: undefined, overdue: true });
    const [, pid] = /^begun (\d+)$/m.exec(stdout) ?? [];
    // Gone, or not yet looked after by its new parent. The kernel takes a moment for it.
    await until('the child is dead', () => isDead(Number(pid)));
  });

  test('that has left its group may go on, and is not waited for', async () => {
    expect(await run('setsid sleep 3 & echo begun; wait', 100)).toMatchObject({ overdue: true, stdout: 'begun\n' });
  });

  test('that was killed by somebody else is no success', async () => {
    expect(await run('kill -9 $$')).toMatchObject({ exit: undefined, overdue: false });
  });

  test('that never stops talking is read to its end, and no more than its beginning is kept', async () => {
    const { exit, stdout } = await run('head -c 3000000 /dev/zero; exit 0');
    expect([exit, stdout.length]).toEqual([0, 64 * 1024]);
  });

  test('that cannot be started says so', async () => {
    const started = new ChildProcesses({ prefix: [], clock: systemClock }).run([join(folder, 'none')], 1000);
    await expect(started).rejects.toMatchObject({ name: 'HostUnreachableError', code: 'ENOENT' });
  });

  test('that the system refuses at once, because somebody is writing it, says so as well', async () => {
    const file = join(folder, 'program');
    await writeFile(file, '#!/bin/sh\n', { mode: 0o755 });
    await using writer = await open(file, 'r+');
    expect(writer.fd).toBeGreaterThan(0);
    const refused = new ChildProcesses({ prefix: [], clock: systemClock }).run([file], 1000);
    await expect(refused).rejects.toMatchObject({ name: 'HostUnreachableError', code: 'ETXTBSY' });
  });
});
