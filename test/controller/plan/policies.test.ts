import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import type { PolicyView } from '../../../runtime/controller/plan/facts/policies.ts';
import type { ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { runs } from '../../random.ts';
import { concurrency } from '../../../runtime/api/policy/quantity.ts';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
import {
  fleet,
  ledgerObject,
  moment,
  node,
  NO_RELEASES,
  NOW,
  type Parts,
  plan,
  POLICY,
  type Rules,
  ruling,
  staging,
  UNPROVEN_TOO,
  updated,
  type World,
} from './fleet.ts';
import { POOLS, rarely, ZONE } from './members.ts';
import { faultsOf } from './oracle.ts';
import { governed } from './policies.ts';
import { after, amount, policy, seen } from './worlds.ts';

const startsOf = ({ commands }: Plan): readonly string[] =>
  commands.flatMap((command) => (command.kind === 'start' ? [command.node] : []));

const SAMPLE = runs(300);

test('the worlds of these properties are such that nodes start under policies in many of them', () => {
  const counts = fc
    .sample(fc.tuple(governed, policy), { ...SAMPLE, seed: 1 })
    .map(
      ([world, rules]) =>
        plan(world, rules, NOW).verdicts.filter((one) => one.policy && one.reason === 'Updating').length,
    );
  expect(counts.filter((count) => count >= 1).length).toBeGreaterThan(0.2 * SAMPLE.numRuns);
});

test('in any world, a plan keeps what each policy says, and what all of them say together', () => {
  fc.assert(
    fc.property(governed, policy, (world, rules) => {
      expect(faultsOf({ world, rules, now: NOW, plan: plan(world, rules, NOW) })).toEqual([]);
    }),
    runs(500),
  );
});

const RELEASE = '1.1.0';
const failedLongAgo = (crash_count: number): Parts => ({
  status: { crash_count, failed_versions: [], state_transition_failure_timestamp: '2026-01-01T00:00:00Z' },
});

/** A node where it stands, for those that say in which order others start. */
interface Placed {
  readonly stands: 'waiting' | 'done' | 'staging';
  readonly pool: string;
  readonly zone: string | undefined;
  readonly age: number;
  readonly crashes: number;
  readonly isAsked: boolean;
}

const placed: fc.Arbitrary<Placed> = fc.record({
  stands: fc.constantFrom('waiting', 'waiting', 'waiting', 'done', 'staging'),
  pool: fc.constantFrom(...POOLS),
  zone: fc.constantFrom(undefined, 'z0', 'z1', 'z2'),
  age: fc.nat(3),
  crashes: fc.constantFrom(0, 0, 0, 1, 2),
  isAsked: rarely,
});

const PARTS = { waiting: {}, done: updated, staging } as const;

function fleetOf(members: readonly Placed[]): World {
  const parts = members.map(({ stands, crashes }) =>
    crashes > 0 && stands === 'waiting' ? failedLongAgo(crashes) : PARTS[stands],
  );
  const nodes = members.map(({ pool, zone, age, isAsked }, index) =>
    node(`n${index}`, {
      labels: { pool, ...(zone !== undefined && { [ZONE]: zone }) },
      createdAt: age,
      ...(isAsked && { askedBy: 'ann' }),
    }),
  );
  return fleet(Object.fromEntries(parts.map((one, index) => [`n${index}`, one])), { nodes });
}

/** For each pool but the last, which the variables rule. */
const pooled = (more: fc.Arbitrary<Partial<UpdatePolicy>>): fc.Arbitrary<readonly PolicyView[]> =>
  fc.tuple(more, more, fc.boolean()).map(([first, second, isTurned]) =>
    [first, second].map((says, index) =>
      ruling(`policy-${index}`, {
        selector: { matchLabels: { pool: `p${index}` } },
        priority: isTurned ? index : -index,
        ...says,
      }),
    ),
  );

/** Nobody waits for others to prove 1.1.0. */
function provenUnder(world: World): World {
  const met = { provenAt: moment(-60), met: '100% for 0s' };
  const named = world.policies.map(({ policy: { name = '' } }) => [name, { ...met, uid: `policy-${name}` }] as const);
  const policies = { ...Object.fromEntries(named), '': { ...met, uid: '' } };
  const objects = [ledgerObject({ family: 'aws-k8s-1.33/amd64', version: '1.1.0' }, { ...EMPTY, policies })];
  return { ...world, releases: { ...world.releases, objects } };
}

test('nodes start in their turn: by policy, what was asked for, failures, zone, age and name, as one would choose them one by one', () => {
  const says = fc.record({
    maxConcurrent: amount,
    zones: fc.constantFrom(1, 2, Infinity).map((atOnce) => ({ key: ZONE, atOnce })),
    proof: fc.constant(UNPROVEN_TOO.proof),
    maxFailed: fc.constant(UNPROVEN_TOO.maxFailed),
  });
  fc.assert(
    fc.property(fc.array(placed, { minLength: 2, maxLength: 12 }), pooled(says), amount, (members, policies, most) => {
      const world = provenUnder({ ...fleetOf(members), policies });
      const rules = { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: most, ownNode: 'n0' };
      expect(startsOf(plan(world, rules, NOW))).toEqual(chosenOneByOne(members, policies, rules));
    }),
    runs(250),
  );
});

/** The same choice, made by looking at every node again for each start. */
function chosenOneByOne(members: readonly Placed[], policies: readonly PolicyView[], rules: Rules): readonly string[] {
  const all = members.map((member, index) => ({ ...member, name: `n${index}`, isBusy: member.stands === 'staging' }));
  const groups = [...policies.flatMap((one) => (one.kind === 'valid' ? [one.policy] : [])), rules]
    .toSorted((a, b) => b.priority - a.priority || (a.name! < b.name! ? -1 : 1))
    .map((says) => ({ says, of: all.filter(({ pool }) => poolOf(says) === pool) }));
  const chosen: string[] = [];
  const choose = (says: UpdatePolicy, of: typeof all, isOwn: boolean): boolean => {
    const zones = new Set(of.filter(({ isBusy }) => isBusy).map(({ zone }) => zone));
    const isFull = [of, all].some(
      (those, at) =>
        those.filter(({ isBusy }) => isBusy).length >=
        concurrency(at === 0 ? says.maxConcurrent : rules.maxConcurrent, those.length),
    );
    const key = (one: (typeof all)[number]): readonly (number | string)[] => {
      const isBegun = of.some(({ zone, stands }) => zone === one.zone && stands === 'done');
      const turn = [Number(!zones.has(one.zone)), Number(!isBegun), one.zone ?? ''];
      const underWay = of.filter(({ zone, isBusy }) => isBusy && zone === one.zone).length;
      return [
        one.isAsked ? -1 : one.crashes,
        ...(says.zones.atOnce === Infinity ? [underWay] : turn),
        one.age,
        one.name,
      ];
    };
    const [next] = of
      .filter(
        ({ stands, isBusy, isAsked, name }) =>
          stands === 'waiting' && !isBusy && (name === rules.ownNode && !isAsked) === isOwn,
      )
      .filter(({ zone }) => new Set([...zones, zone]).size <= says.zones.atOnce)
      .toSorted((a, b) => compareKeys(key(a), key(b)));
    if (isFull || !next) return false;
    next.isBusy = true;
    chosen.push(next.name);
    return true;
  };
  for (const { says, of } of groups) while (choose(says, of, false));
  for (const { says, of } of groups) choose(says, of, true);
  return chosen;
}

const poolOf = ({ name, selector }: UpdatePolicy): string =>
  name === undefined ? 'p2' : selector.matchLabels!['pool']!;

function compareKeys(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const at = a.findIndex((one, index) => one !== b[index]);
  return at === -1 ? 0 : a[at]! < b[at]! ? -1 : 1;
}

/** So that a policy without nodes is not waited for. */
const KNOWN_FOR_LONG: World['releases'] = {
  ...NO_RELEASES,
  objects: ['aws-k8s-1.33/amd64', 'other'].map((family) =>
    ledgerObject({ family, version: '0.9.0' }, { ...EMPTY, firstOfferedAt: moment(-20_000) }),
  ),
};

test('a healthy fleet is updated to its end under policies that come one after the other, and no plan on the way breaks one', () => {
  const says = fc.record({
    maxConcurrent: amount,
    maxFailed: amount,
    zones: fc.constantFrom(1, 2, Infinity).map((atOnce) => ({ key: ZONE, atOnce })),
    proof: fc.record({
      nodes: amount,
      soakMs: fc.constantFrom(0, 300_000),
      widen: fc.constantFrom(undefined, undefined, 1, 2),
    }),
    pauseBetweenMs: fc.constantFrom(0, 600_000),
    soakMs: fc.constantFrom(0, 120_000),
    freezes: fc.constantFrom([], [{ from: NOW + 300_000, to: NOW + 900_000, reason: 'a freeze' }]),
  });
  fc.assert(
    fc.property(
      fc.array(placed, { minLength: 1, maxLength: 9 }),
      pooled(says),
      amount,
      fc.boolean(),
      (members, drawn, most, chained) => {
        const policies = drawn.map((one, at) =>
          one.kind === 'valid' && at === 1 && chained
            ? { ...one, policy: { ...one.policy, after: ['policy-0'] } }
            : one,
        );
        const { faults, world } = rolledOut(
          { ...fleetOf(members), policies, releases: KNOWN_FOR_LONG },
          { ...POLICY, maxConcurrent: most },
        );
        expect(faults).toEqual([]);
        expect(
          world.shadows.filter(({ status }) => status!.current_version !== RELEASE).map(({ name }) => name),
        ).toEqual([]);
      },
    ),
    runs(50),
  );
});

/** Plans for as long as there is something to do or to wait for; agents do at once what they are asked. */
function rolledOut(first: World, rules: Rules): { readonly world: World; readonly faults: readonly string[] } {
  const faults = new Set<string>();
  let world = first;
  let now = NOW;
  for (let round = 0; round < 1000; round++) {
    const made = plan(world, rules, now);
    for (const fault of faultsOf({ world, rules, now, plan: made })) faults.add(fault);
    const done = after(world, made.commands, now);
    const shadows = done.shadows.map((one) => stepped(one, now));
    const isIdle = made.commands.length === 0 && shadows.every((one, index) => one === world.shadows[index]);
    if (isIdle && made.requeueAt === undefined) break;
    now = isIdle ? made.requeueAt! : now + 1000;
    world = { ...done, shadows };
  }
  return { world, faults: [...faults] };
}

function stepped(one: ShadowView, now: number): ShadowView {
  const { spec, status } = one;
  if (!status || spec.state === status.current_state) return one;
  const rebooted = spec.state === 'RebootedIntoUpdate' && { current_version: spec.version ?? RELEASE };
  const next = { ...one, status: { ...status, ...rebooted, current_state: spec.state } };
  const ended = spec.state === 'Idle' && { finishedAt: now, endedAt: now, upToDateSince: now };
  return { ...seen(one, next, now), ...ended };
}
