import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Crowd } from '../../runtime/cli/forecast/crowd.ts';
import { forecastFrom, type Forecast } from '../../runtime/cli/forecast/forecast.ts';
import type { Inspection } from '../../runtime/cli/inspect.ts';
import { policyOf, readControllerConfig, settingsOf } from '../../runtime/controller/config.ts';
import { plan } from '../../runtime/controller/plan/plan.ts';
import type { NodeView, PolicyView } from '../../runtime/controller/plan/facts/snapshot.ts';
import {
  entered,
  fleet,
  minutes,
  node,
  NOW,
  type Parts,
  POLICY,
  ruling,
  underRules,
} from '../controller/plan/fleet.ts';
import { amount } from '../controller/plan/worlds.ts';
import { runs } from '../random.ts';

/** A forecast looks at as few nodes as it can, and says the same as one that looks at all of them each time. */

interface Drawn {
  readonly shadows: readonly Parts[];
  readonly labels: readonly Readonly<Record<string, string>>[];
  /** What else is so of the nodes. */
  readonly others: readonly Partial<NodeView>[];
  readonly families: readonly string[];
  readonly policies: readonly PolicyView[];
  readonly env: Readonly<Record<string, string>>;
}

function seenOf({ shadows, labels, others, families, policies, env }: Drawn): Inspection {
  const config = readControllerConfig({ MY_NODE_NAME: 'n3', ...env });
  const rules = { ...POLICY, ...settingsOf(config), ...policyOf(config), conditionWrites: 0 };
  const nodes = shadows.map((_, at) =>
    node(`n${at}`, {
      labels: labels[at] ?? {},
      family: families[at] ?? 'f',
      createdAt: minutes(-1000 - (at % 7)),
      ...others[at],
    }),
  );
  const world = fleet(Object.fromEntries(shadows.map((parts, at) => [`n${at}`, parts])), { nodes, policies });
  const snapshot = underRules(entered(world, rules, NOW), rules);
  return {
    snapshot,
    config,
    plan: plan(snapshot, { ...settingsOf(config), conditionWrites: 0 }, { now: NOW }),
    policiesAt: () => snapshot.policies,
    keepers: () => () => [],
    noLeader: undefined,
    permitsKnown: true,
    unknown: [],
    now: NOW,
  };
}

const NEWEST = { current_version: '1.1.0' };
const share = fc.constantFrom('1', '2', '10%', '30%', 'unlimited');
const parts: fc.Arbitrary<Parts> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.constant({ status: NEWEST }) },
  { weight: 2, arbitrary: fc.constant({ status: { staged: {} } }) },
  {
    weight: 1,
    arbitrary: fc.constant({ status: { crash_count: 1, state_transition_failure_timestamp: '2026-01-10T11:59:00Z' } }),
  },
);
const other: fc.Arbitrary<Partial<NodeView>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constantFrom({ held: true }, { askedBy: 'ann' }, { leaving: true }, { managed: false }) },
);
const policies = fc
  .record({
    maxConcurrent: amount,
    zones: fc.constantFrom(Infinity, 1, 2),
    pauseBetweenMs: fc.constantFrom(0, 600_000),
    proof: amount.filter(({ kind }) => kind !== 'unlimited'),
    after: fc.boolean(),
  })
  .map(({ zones: atOnce, proof, after, ...rules }): readonly PolicyView[] => [
    ruling('first', {
      ...rules,
      selector: { matchLabels: { pool: 'first' } },
      zones: { key: 'zone', atOnce },
      proof: { nodes: proof, soakMs: 300_000 },
    }),
    ruling('second', { selector: { matchLabels: { pool: 'second' } }, after: after ? ['first'] : [] }),
  ]);
const drawn: fc.Arbitrary<Drawn> = fc.integer({ min: 4, max: 30 }).chain((count) =>
  fc.record({
    shadows: fc.array(
      fc
        .tuple(parts, fc.constantFrom(300_000, 420_000, undefined))
        .map(([one, lastUpdateMs]) => Object.assign({}, one, { lastUpdateMs })),
      { minLength: count, maxLength: count },
    ),
    labels: fc.array(
      fc.record({ pool: fc.constantFrom('first', 'second', 'none'), zone: fc.constantFrom('a', 'b', 'c') }),
      { minLength: count, maxLength: count },
    ),
    others: fc.array(other, { minLength: count, maxLength: count }),
    families: fc.array(fc.constantFrom('f', 'f', 'g'), { minLength: count, maxLength: count }),
    policies: fc.oneof(fc.constant([]), policies),
    env: fc.record({
      MAX_CONCURRENT_UPDATE: share,
      MAX_FAILED_UPDATE: share,
      PROOF_NODES: fc.constantFrom('1', '20%'),
    }),
  }),
);

const saidBy = ({ starts, endsAt, left }: Forecast) => ({
  starts,
  endsAt,
  left: left.map(({ node: name, reason }) => `${name} ${reason}`),
});

test('it says the same whether its plans look at every node, or only at those that tell something', () => {
  fc.assert(
    fc.property(drawn, (one) => {
      const seen = seenOf(one);
      const limits = { plans: 5000 };
      expect(saidBy(forecastFrom(seen, limits))).toEqual(saidBy(forecastFrom(seen, { ...limits, allInSight: true })));
    }),
    runs(40),
  );
});

test('how many nodes a plan looks at does not grow with the fleet', () => {
  const seenAtOnce = (count: number): number => {
    const shadows = Array.from({ length: count }, (_, at) => ({ lastUpdateMs: 300_000, status: at % 3 ? {} : NEWEST }));
    const one = { shadows, labels: [], others: [], families: [], policies: [], env: { MAX_CONCURRENT_UPDATE: '2' } };
    const { snapshot } = seenOf(one);
    const crowd = new Crowd(snapshot, { roomUnder: () => 4, ownNode: 'n3', isProven: () => true });
    return snapshot.nodes.filter(({ shadowName }) => !crowd.isHidden(shadowName)).length;
  };
  expect(seenAtOnce(300)).toBe(seenAtOnce(30));
  expect(seenAtOnce(300)).toBeLessThan(12);
});

test('a release that is too young starts once it is old enough', () => {
  const env = { MIN_RELEASE_AGE_IN_SEC: '86400' };
  const { starts } = forecastFrom(seenOf({ shadows: [{}], labels: [], others: [], families: [], policies: [], env }));
  expect(starts.map(({ at }) => Math.round((at - NOW) / 60_000))).toEqual([1440]);
});
