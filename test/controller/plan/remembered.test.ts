import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { plan } from '../../../runtime/controller/plan/plan.ts';
import { entered, minutes, NOW, type Rules, underRules, type World } from './fleet.ts';
import { anyWorld } from './policies.ts';
import { policy } from './worlds.ts';
import { runs } from '../../random.ts';

const seen = (world: World, rules: Rules, now: number) => underRules(entered(world, rules, now), rules);

type Change = (world: World, other: World) => World;

/** With what another world says of the first thing of the list; what it is called and whose it is stays. */
const replaced = <T extends object>(list: readonly T[], others: readonly T[], kept: (one: T) => Partial<T>): T[] =>
  list.map((one, at) => (at === 0 ? Object.assign({}, one, others[0], kept(one)) : one));

const CHANGES: Readonly<Record<string, Change>> = {
  'a node': (world, { nodes }) => ({
    ...world,
    nodes: replaced(world.nodes, nodes, ({ name, uid, shadowName }) => ({ name, uid, shadowName })),
  }),
  'a shadow': (world, { shadows }) => ({
    ...world,
    shadows: replaced(world.shadows, shadows, ({ name, uid, owners }) => ({ name, uid, owners })),
  }),
  'who owns a shadow': (world) => ({
    ...world,
    shadows: replaced(world.shadows, [], () => ({ owners: world.nodes.slice(1).map(({ uid }) => uid) })),
  }),
  'a node that is gone': (world) => ({ ...world, nodes: world.nodes.slice(1) }),
  'a shadow that is gone': (world) => ({ ...world, shadows: world.shadows.slice(1) }),
  'the order of the lists': (world) => ({ ...world, nodes: world.nodes.toReversed() }),
  permits: (world, { permits }) => ({ ...world, permits }),
  'whose agent is away': (world, { silentSince }) => ({ ...world, silentSince }),
  policies: (world, { policies, window }) => ({ ...world, policies, window }),
  'whether it is current': (world, { notCurrent }) => ({ ...world, notCurrent }),
};

test.each(Object.keys(CHANGES))('a plan is what it would be if none had been made before: %s', (what) => {
  fc.assert(
    fc.property(anyWorld, anyWorld, policy, fc.nat({ max: 60 }), (world, other, rules, passed) => {
      const now = minutes(passed);
      const next = CHANGES[what]?.(world, other) ?? world;
      const memory = {};
      plan(seen(world, rules, NOW), rules, { now: NOW, memory });
      const given = seen(next, rules, now);
      expect(plan(given, rules, { now, memory })).toEqual(plan(given, rules, { now }));
    }),
    runs(100),
  );
});
