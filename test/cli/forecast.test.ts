import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { EMPTY } from '../../runtime/api/release/ledger.ts';
import { Crowd } from '../../runtime/cli/forecast/crowd.ts';
import { forecastLines } from '../../runtime/cli/forecast/lines.ts';
import { AS_IS } from '../../runtime/cli/arguments.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { statusLines } from '../../runtime/cli/status/lines.ts';
import { statusOf } from '../../runtime/cli/status/status.ts';
import { forecastFrom, type Forecast } from '../../runtime/cli/forecast/forecast.ts';
import type { Inspection } from '../../runtime/cli/inspect.ts';
import { policyOf, readControllerConfig, settingsOf } from '../../runtime/controller/config.ts';
import { plan } from '../../runtime/controller/plan/plan.ts';
import type { PolicyView } from '../../runtime/controller/plan/facts/policies.ts';
import type { NodeView, ReleaseView } from '../../runtime/controller/plan/facts/snapshot.ts';
import {
  entered,
  fleet,
  ledgerObject,
  MARKS,
  minutes,
  moment,
  node,
  NO_RELEASES,
  NOW,
  type Parts,
  POLICY,
  rebooting,
  ruling,
  underRules,
} from '../controller/plan/fleet.ts';
import { inspected } from './inspected.ts';
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
  /** By version, then by the last seed of each wave: when it opens, minutes from now. */
  readonly waves?: Readonly<Record<string, Readonly<Record<number, number>>>>;
}

const METADATA = 'https://updates.example/';

function publishedAs(waves: NonNullable<Drawn['waves']>): readonly ReleaseView[] {
  return ['f', 'g'].flatMap((family) =>
    Object.entries(waves).map(([version, times]) => {
      const listed = Object.entries(times).map(([seed, at]) => ({ seed: Number(seed), time: moment(at) }));
      const repositories = [{ metadata: METADATA, waves: listed }];
      const published = { firstSeenAt: moment(-60), maxVersion: version, repositories };
      return ledgerObject({ family, version }, { ...EMPTY, published });
    }),
  );
}

/** A host of this seed that is offered nothing but what it runs. */
const waitsFor = (seed: number, status: object = OLD): Parts => ({
  status: {
    ...status,
    update_settings: {
      seed,
      ignore_waves: false,
      version_lock: 'latest',
      metadata_base_url: METADATA,
      read_at: moment(-60),
    },
  },
});

const OLD = { target_version: '1.0.0' };

function seenOf({ shadows, labels, others, families, policies, env, waves = {} }: Drawn): Inspection {
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
  const world = fleet(Object.fromEntries(shadows.map((parts, at) => [`n${at}`, parts])), {
    nodes,
    policies,
    releases: { ...NO_RELEASES, objects: publishedAs(waves) },
  });
  const snapshot = underRules(entered(world, rules, NOW), rules);
  return inspected({
    snapshot,
    config,
    plan: plan(snapshot, { ...settingsOf(config), conditionWrites: 0 }, { now: NOW }),
  });
}

const NEWEST = { current_version: '1.1.0' };
const share = fc.constantFrom('1', '2', '10%', '30%', 'unlimited');
const parts: fc.Arbitrary<Parts> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.constant({ status: NEWEST }) },
  { weight: 2, arbitrary: fc.constant({ status: { staged: {} } }) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.integer({ min: 0, max: 2047 }), fc.constantFrom(OLD, {}, NEWEST))
      .map(([seed, status]) => waitsFor(seed, status)),
  },
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
    minIntervalMs: fc.constantFrom(undefined, 600_000, 7_200_000),
    widen: fc.constantFrom(undefined, 1, 2),
    per: fc.constantFrom(undefined, undefined, 'zone'),
    after: fc.boolean(),
  })
  .map(({ zones: atOnce, proof, widen, per, after, ...rules }): readonly PolicyView[] => [
    ruling('first', {
      ...rules,
      selector: { matchLabels: { pool: 'first' } },
      zones: { key: 'zone', atOnce },
      proof: { nodes: proof, soakMs: 300_000, widen, per },
    }),
    ruling('second', { selector: { matchLabels: { pool: 'second' } }, after: after ? ['first'] : [] }),
  ]);
const times = fc.dictionary(fc.constantFrom('0', '300', '1000', '2048'), fc.integer({ min: -20, max: 300 }), {
  maxKeys: 4,
});
const drawnWaves = fc.record({ '1.1.0': times, '1.2.0': times }, { requiredKeys: [] });
const drawn: fc.Arbitrary<Drawn> = fc.integer({ min: 4, max: 30 }).chain((count) =>
  fc.record({
    shadows: fc.array(
      fc
        .tuple(
          parts,
          fc.constantFrom(300_000, 420_000, undefined),
          fc.constantFrom(undefined, minutes(-5), minutes(-60)),
        )
        .map(([one, lastUpdateMs, finishedAt]) => Object.assign({}, one, { lastUpdateMs, finishedAt })),
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
    waves: drawnWaves,
  }),
);

const NO_MORE = { labels: [], others: [], families: [], policies: [] } as const;

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
    runs(25),
  );
});

test('how many nodes a plan looks at does not grow with the fleet', () => {
  const seenAtOnce = (count: number): number => {
    const shadows = Array.from({ length: count }, (_, at) => ({ lastUpdateMs: 300_000, status: at % 3 ? {} : NEWEST }));
    const one = { ...NO_MORE, shadows, env: { MAX_CONCURRENT_UPDATE: '2' } };
    const { snapshot } = seenOf(one);
    const crowd = new Crowd(snapshot, { roomUnder: () => 4, ownNode: 'n3', isProven: () => true });
    return snapshot.nodes.length - crowd.hidden.size;
  };
  expect(seenAtOnce(300)).toBe(seenAtOnce(30));
  expect(seenAtOnce(300)).toBeLessThan(12);
});

test('a release that is too young starts once it is old enough', () => {
  const env = { MIN_RELEASE_AGE_IN_SEC: '86400' };
  const { starts } = forecastFrom(seenOf({ ...NO_MORE, shadows: [{}], env }));
  expect(starts.map(({ at }) => Math.round((at - NOW) / 60_000))).toEqual([1440]);
});

const SEEDS = [0, 1, 700, 1001];
const inWaves = (): Inspection =>
  seenOf({
    ...NO_MORE,
    shadows: SEEDS.map((seed) => waitsFor(seed)),
    env: { MAX_CONCURRENT_UPDATE: 'unlimited' },
    waves: { '1.1.0': { 0: 60, 1000: 160 } },
  });

test('no node starts before its wave, and each starts afterwards', () => {
  const { starts, left } = forecastFrom(inWaves());
  // A host with the first seed waits for nobody: it would be offered it already.
  expect(starts.map(({ node: name, waveAt, at }) => [name, waveAt, at - (waveAt ?? NaN) < 1000])).toEqual([
    ['n1', minutes(60.1), true],
    ['n2', minutes(130), true],
    ['n3', minutes(160), true],
  ]);
  expect(left).toEqual([]);
});

test('of a node whose wave opens outside its window both times are said, and status says when all are done', () => {
  const seen = inWaves();
  const [closed, open] = [
    { open: false, triggeredAt: undefined, changesAt: minutes(300) },
    { open: true, triggeredAt: undefined, changesAt: undefined },
  ];
  const policiesAt = (at: number) =>
    seen.snapshot.policies.map((view) => Object.assign({}, view, { window: at < minutes(300) ? closed : open }));
  const nightly = { ...seen, policiesAt };
  const forecast = forecastFrom(nightly);
  expect(Math.min(...forecast.starts.map(({ at }) => at))).toBe(minutes(300));
  const said = forecastLines(
    { seen: nightly, forecast, drains: { stuck: [], crowded: [], finishing: [] }, here: AS_IS },
    PLAIN,
  );
  expect(said.find((line) => line.includes(' n1 '))).toMatch(
    /^ *2026-01-10T17:\d+:\d+Z +n1 +1\.1\.0 .*its wave opens Sat 10 Jan, 13:01 UTC, its next window Sat 10 Jan, 17:00 UTC$/,
  );
  const status = statusLines(statusOf(nightly, forecast), PLAIN);
  expect(status.join(' ')).toMatch(
    /run what they are offered\. .* about 5 h \d+ min to go, until \S+; 3 nodes wait for their waves\.$/,
  );
});

test('a host that its policy wants another version of is foretold to offer it', () => {
  const pinned = [ruling('p', { version: { ...POLICY.version, exact: '1.2.0' } })];
  const { starts, left } = forecastFrom(
    seenOf({ shadows: [{}], labels: [], others: [], families: [], policies: pinned, env: {} }),
  );
  expect([starts.map(({ version }) => version), left]).toEqual([['1.2.0'], []]);
});

test('a node that is being drained keeps no other one waiting once it is back', () => {
  const draining: Parts = { ...rebooting, status: { ...rebooting.status, reboot: null }, lastUpdateMs: 300_000 };
  const drained = { marks: MARKS, unschedulable: true, outAt: minutes(-5) };
  const { starts } = forecastFrom(seenOf({ ...NO_MORE, shadows: [draining, {}], others: [drained, {}], env: {} }));
  expect(starts.map(({ node: name, at }) => [name, at < minutes(30)])).toEqual([['n1', true]]);
});

/** Minutes until a fleet is done, where an update takes 54 seconds. */
function minutesOf(count: number, provers: number, widen: number | undefined): number {
  const shadows = Array.from({ length: count }, () => ({ lastUpdateMs: 54_000 }));
  const proof = { nodes: { kind: 'count', count: provers }, soakMs: 0, widen } as const;
  const policy = ruling('p', { selector: {}, maxConcurrent: { kind: 'unlimited' }, proof });
  const seen = seenOf({ ...NO_MORE, shadows, policies: [policy], env: { MAX_CONCURRENT_UPDATE: '10' } });
  const { endsAt, starts } = forecastFrom(seen);
  expect(starts).toHaveLength(count);
  return (endsAt - NOW) / 60_000;
}

test('what widening costs a rollout: the rounds in which it grows, which none is where enough nodes prove it, or of a large fleet', () => {
  const efficiencyOf = (count: number, provers: number, widen: number): number =>
    minutesOf(count, provers, undefined) / minutesOf(count, provers, widen);
  expect(efficiencyOf(30, 4, 2)).toBeGreaterThan(0.99);
  expect(efficiencyOf(30, 1, 10)).toBe(1);
  expect(efficiencyOf(30, 1, 2)).toBeCloseTo(0.67, 1);
  expect(efficiencyOf(300, 1, 2)).toBeGreaterThan(0.93);
});
