import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Outages, outagesIn } from './outages.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'brupop-outages-'));
  await mkdir(join(dir, 'logs'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

test('outages are told in order, each when it is over', async () => {
  const outages = new Outages(dir);
  expect(await outagesIn(dir)).toEqual([]);
  outages.began(100);
  expect(await outagesIn(dir)).toEqual([]);
  outages.over(200);
  outages.began(300);
  outages.over(400);
  expect(await outagesIn(dir)).toEqual([
    { fromMs: 100, toMs: 200 },
    { fromMs: 300, toMs: 400 },
  ]);
});

test('an outage goes on when the server ends again before it is ready, and is over once', async () => {
  const outages = new Outages(dir);
  outages.began(100);
  outages.began(150);
  outages.over(200);
  outages.over(201);
  expect(await outagesIn(dir)).toEqual([{ fromMs: 100, toMs: 200 }]);
});
