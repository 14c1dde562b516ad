import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { eventually } from '../../contract/eventually.ts';
import { Daemon } from './daemon.ts';
import { folder } from '../../folder.ts';

let daemon: Daemon;
const clock = new VirtualClock();

beforeEach(async () => {
  daemon = new Daemon({
    file: process.execPath,
    args: ['--eval', 'setInterval(() => undefined, 1000)'],
    logFile: join(folder, 'log'),
    pidFile: join(folder, 'pid'),
  });
  daemon.start();
});

afterEach(async () => {
  await daemon.stop('SIGKILL');
});

const pid = async (): Promise<number> => Number(await readFile(join(folder, 'pid'), 'utf8'));

test('a program that is killed is started again a second later, under another process id, and its end is told', async () => {
  const ends: number[] = [];
  const kept = daemon.keep(clock, (endedAtMs) => void ends.push(endedAtMs));
  const first = await pid();
  const killedAt = clock.now();
  process.kill(first, 'SIGKILL');
  await eventually(() => expect(daemon.running).toBe(false));
  await clock.advance(1000);
  expect(daemon.running).toBe(true);
  expect(ends).toEqual([killedAt]);
  expect(await pid()).not.toBe(first);
  await daemon.stop('SIGKILL');
  await kept;
});

test('a program that was stopped stays so', async () => {
  const kept = daemon.keep(clock);
  await daemon.stop('SIGKILL');
  await kept;
  await clock.advance(10_000);
  expect(daemon.running).toBe(false);
});
