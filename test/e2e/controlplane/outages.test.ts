import { beforeEach, expect, test } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Outages, outagesIn } from './outages.ts';
import { folder } from '../../folder.ts';

beforeEach(async () => {
  await mkdir(join(folder, 'logs'));
});

test('outages are told in order, each when it is over', async () => {
  const outages = new Outages(folder);
  expect(await outagesIn(folder)).toEqual([]);
  outages.began(100);
  expect(await outagesIn(folder)).toEqual([]);
  outages.over(200);
  outages.began(300);
  outages.over(400);
  expect(await outagesIn(folder)).toEqual([
    { fromMs: 100, toMs: 200 },
    { fromMs: 300, toMs: 400 },
  ]);
});

test('an outage goes on when the server ends again before it is ready, and is over once', async () => {
  const outages = new Outages(folder);
  outages.began(100);
  outages.began(150);
  outages.over(200);
  outages.over(201);
  expect(await outagesIn(folder)).toEqual([{ fromMs: 100, toMs: 200 }]);
});
