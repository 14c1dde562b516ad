import { describe, expect, test } from '@jest/globals';
import type { Random } from '../../runtime/lib/random.ts';
import { Duel, type DuelOptions, PAST_THE_LEASE_MS } from './duel.ts';
import { seeded, seeds } from '../random.ts';

/** Duels of each kind, each from a seed of its own. */
const SEEDS = seeds(10);

type Play = (duel: Duel, random: Random) => Promise<unknown>;

async function played(options: DuelOptions, play: Play): Promise<void> {
  for (const seed of SEEDS) {
    try {
      await once(options, play, seeded(seed));
    } catch (error) {
      throw new Error(`TEST_SEED=${seed} plays this again`, { cause: error });
    }
  }
}

async function once(options: DuelOptions, play: Play, random: Random): Promise<void> {
  const duel = await Duel.begin(options);
  try {
    await play(duel, random);
    await duel.finish();
  } finally {
    await duel.stage.end();
  }
}

const oneOf = <T>(choices: readonly T[], random: Random): T => choices[Math.floor(random() * choices.length)]!;

/** A few moves from the moment at which the first controller is about to take a permit; then everything comes through. */
const around =
  (happens: (duel: Duel) => readonly (() => Promise<unknown>)[]): Play =>
  async (duel, random) => {
    const length = 2 + Math.floor(random() * 4);
    for (let step = 0; step < length; step++) {
      await oneOf(happens(duel), random)();
      await duel.check();
    }
  };

/** Reads, writes and watch events in any order for a while. @param upheaval how often something else happens: a share of the steps */
const throughout =
  (upheaval: number): Play =>
  async (duel, random) => {
    for (let step = 0; step < 120; step++) {
      const dice = random();
      if (dice < 0.06) await duel.stage.pass(random() * 2 * PAST_THE_LEASE_MS);
      else if (dice < 0.2) await duel.moveAgents();
      else if (dice < 0.2 + upheaval) await oneOf(duel.upheavals, random)();
      else await duel.scheduler.release(Math.floor(random() * duel.scheduler.waiting()));
      await duel.check();
    }
  };

describe.each<[string, DuelOptions]>([
  ['one of two nodes', { nodes: ['a', 'b'], concurrency: 1 }],
  ['two of three nodes', { nodes: ['a', 'b', 'c'], concurrency: 2 }],
])('%s at once is not exceeded by', (_name, options) => {
  test.each<[string, Play]>([
    ['moves of two controllers, their agents and the clock while a permit is taken', around(({ moves }) => moves)],
    [
      'deleted shadows, nodes and labels, holds, pauses, and a process of the same name, among them',
      around(({ moves, upheavals }) => [...moves, ...upheavals]),
    ],
    ['reads, writes and watch events in any order', throughout(0)],
    ['those, and whatever may happen besides', throughout(0.08)],
  ])(
    '%s',
    async (_what, play) => {
      await played(options, play);
      expect.hasAssertions();
    },
    Math.max(60_000, SEEDS.length * 20_000),
  );
});
