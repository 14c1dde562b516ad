import { describe, expect, test } from '@jest/globals';
import type { Random } from '../../runtime/lib/random.ts';
import { Duel, type DuelOptions, PAST_THE_LEASE_MS, sequences } from './duel.ts';
import { seeded } from '../random.ts';

/** Sequences are this long from the moment at which the first controller is about to take a slot. */
const DEPTH = Number(process.env['INTERLEAVING_DEPTH'] ?? 3);
const SEEDS = Number(process.env['INTERLEAVING_SEEDS'] ?? 40);

type Moves = (duel: Duel) => readonly (() => Promise<unknown>)[];

async function everyOrder(options: DuelOptions, moves: Moves, depth: number): Promise<void> {
  const count = moves(await Duel.begin(options)).length;
  for (const order of sequences(count, depth)) {
    const duel = await Duel.begin(options);
    for (const move of order) {
      await moves(duel)[move]!();
      await duel.check();
    }
    await duel.finish();
    await duel.stage.end();
  }
}

async function anyOrder(options: DuelOptions, random: Random, upheaval: number): Promise<void> {
  const duel = await Duel.begin(options);
  for (let step = 0; step < 120; step++) {
    const dice = random();
    if (dice < 0.06) await duel.stage.pass(random() * 2 * PAST_THE_LEASE_MS);
    else if (dice < 0.2) await duel.moveAgents();
    else if (dice < 0.2 + upheaval) await duel.upheavals[Math.floor(random() * duel.upheavals.length)]!();
    else await duel.scheduler.release(Math.floor(random() * duel.scheduler.waiting()));
    await duel.check();
  }
  await duel.finish();
  await duel.stage.end();
}

describe.each<[string, DuelOptions]>([
  ['one of two nodes', { nodes: ['a', 'b'], concurrency: 1 }],
  ['two of three nodes', { nodes: ['a', 'b', 'c'], concurrency: 2 }],
])('%s at once', (_name, options) => {
  test(`no order of ${DEPTH} moves of two controllers, their agents and the clock exceeds that`, async () => {
    await everyOrder(options, (duel) => duel.moves, DEPTH);
    expect.hasAssertions();
  }, 600_000);

  test(`nor of ${DEPTH - 1} with deleted shadows, nodes and labels, holds, pauses, and a process of the same name, among them`, async () => {
    await everyOrder(options, (duel) => [...duel.moves, ...duel.upheavals], DEPTH - 1);
    expect.hasAssertions();
  }, 600_000);

  const seeds = Array.from({ length: SEEDS }, (_, seed) => seed + 1);
  test.each(seeds)('nor does a random one, with reads, writes and watch events in any order (seed %i)', (seed) =>
    anyOrder(options, seeded(seed), 0),
  );

  test.each(seeds)('nor does one in which anything may happen besides (seed %i)', (seed) =>
    anyOrder(options, seeded(seed), 0.08),
  );
});
