import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from '@jest/globals';
import { type Contract, contract } from './cluster.ts';
import { DrainWorld } from './drain-world.ts';

/** What the tests of a file share, and what each of them has of its own. */
export interface Stage {
  readonly cluster: Contract;
  readonly world: DrainWorld;
}

/** Drains by the apiserver's own engine, in this process, against a cluster. The pods' kubelet is the test. */
export function stage(): Stage {
  const set: { cluster?: Contract; world?: DrainWorld } = {};
  beforeAll(async () => {
    set.cluster = await contract();
  });
  beforeEach(async () => {
    set.world = await DrainWorld.create(present(set.cluster));
  });
  afterEach(async () => {
    const { world } = set;
    delete set.world;
    await world?.end();
  });
  afterAll(() => set.cluster?.stop());
  return {
    get cluster() {
      return present(set.cluster);
    },
    get world() {
      return present(set.world);
    },
  };
}

function present<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the stage is set by the first test');
  return part;
}

type Play = () => Promise<void>;

/** Scenarios as tests; undefined is one that this cluster cannot be brought to. */
export function play(group: string, plays: Readonly<Record<string, Play | undefined>>): void {
  describe(group, () => {
    for (const [name, one] of Object.entries(plays)) {
      if (one) test(name, one);
      else test.skip(name, () => undefined);
    }
  });
}

/** A play that needs what only a real API server has: webhooks and policies of admission. */
export function onReal(one: Play): Play | undefined {
  return process.env['CONTRACT_KUBECONFIG'] === undefined ? undefined : one;
}
