import { expect, test } from '@jest/globals';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { nodeNameOf, shadowName } from '../../runtime/shadow/names.ts';
import { Scheduler } from './scheduler.ts';
import { seeded, Stage } from './stage.ts';

const NODES = ['a', 'b'];
const PAST_THE_LEASE_MS = 16_000;

const takesSlot = ({ method, body }: KubeRequest): boolean =>
  method === 'PUT' && JSON.stringify(body).includes('nodeUid');

/** Two controllers on one fleet whose every read and write waits to be placed. */
class Duel {
  readonly scheduler = new Scheduler();
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
    for (const actor of ['first', 'second']) {
      stage.start({ transport: this.scheduler.transport(actor, stage.transport) });
    }
  }

  /** Up to where the first one leads and is about to take a slot. */
  static async begin(): Promise<Duel> {
    const duel = new Duel(await Stage.withoutConditions(...NODES));
    await duel.stage.pass(0);
    while (!duel.scheduler.holds('first', takesSlot)) await duel.scheduler.release(0, 'first');
    while (await duel.scheduler.release(0, 'second'));
    return duel;
  }

  readonly moves: readonly (() => Promise<unknown>)[] = [
    () => this.scheduler.release(0, 'first'),
    () => this.scheduler.release(-1, 'first'),
    () => this.scheduler.release(0, 'second'),
    () => this.stage.pass(PAST_THE_LEASE_MS),
    () => this.moveAgents(),
  ];

  /** Each agent takes the next step that it is told to, as the cluster stands. */
  async moveAgents(): Promise<void> {
    for (const name of NODES) {
      const { spec, status } = (await this.stage.shadows.get(shadowName(name)))!;
      if (!status || spec.state === status.current_state) continue;
      const rebooted = spec.state === 'RebootedIntoUpdate' && { current_version: '1.1.0' };
      await this.stage.report(name, { current_state: spec.state, ...rebooted });
    }
  }

  /** Never more nodes in an update than the concurrency, and none without a slot. */
  async check(): Promise<void> {
    const shadows = await this.stage.shadows.list();
    const active = shadows.filter(({ spec, status }) => spec.state !== 'Idle' || status?.current_state !== 'Idle');
    const names = active.map(({ metadata }) => metadata.name);
    const slots = await this.stage.slots();
    expect(names.length).toBeLessThanOrEqual(1);
    expect(slots.length).toBeLessThanOrEqual(1);
    expect(slots).toEqual(expect.arrayContaining(names));
  }

  /** Everything comes through from here on; the fleet must still get there. */
  async finish(): Promise<void> {
    for (let round = 0; round < 60; round++) {
      while (this.scheduler.waiting() > 0) await this.scheduler.release(0);
      await this.moveAgents();
      await this.check();
      await this.stage.pass(PAST_THE_LEASE_MS / 2);
      if (await this.isOver()) break;
    }
    expect(await this.isOver()).toBe(true);
  }

  async isOver(): Promise<boolean> {
    const shadows = await this.stage.shadows.list();
    return shadows.every(({ metadata, status }) => nodeNameOf(metadata.name) && status?.current_version === '1.1.0');
  }
}

/** Every sequence of `length` numbers below `base`. */
function sequences(base: number, length: number): readonly (readonly number[])[] {
  if (length === 0) return [[]];
  const shorter = sequences(base, length - 1);
  return Array.from({ length: base }, (_, first) => shorter.map((rest) => [first].concat(rest))).flat();
}

/** Sequences are this long from the moment at which the first controller is about to take a slot. */
const DEPTH = Number(process.env['INTERLEAVING_DEPTH'] ?? 3);
const SEEDS = Number(process.env['INTERLEAVING_SEEDS'] ?? 100);

test(`no order of ${DEPTH} moves of two controllers, their agents and the clock exceeds the concurrency`, async () => {
  for (const moves of sequences(5, DEPTH)) {
    const duel = await Duel.begin();
    for (const move of moves) {
      await duel.moves[move]!();
      await duel.check();
    }
    await duel.finish();
    await duel.stage.end();
  }
}, 300_000);

test.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
  'nor does a random one, with reads, writes and watch events in any order (seed %i)',
  async (seed) => {
    const random = seeded(seed);
    const duel = await Duel.begin();
    for (let step = 0; step < 120; step++) {
      const dice = random();
      if (dice < 0.06) await duel.stage.pass(random() * 2 * PAST_THE_LEASE_MS);
      else if (dice < 0.2) await duel.moveAgents();
      else await duel.scheduler.release(Math.floor(random() * duel.scheduler.waiting()));
      await duel.check();
    }
    await duel.finish();
    await duel.stage.end();
  },
);
