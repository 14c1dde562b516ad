import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { concurrency, failureBudget } from '../../../runtime/api/policy/quantity.ts';
import type { Command, Start } from '../../../runtime/controller/plan/facts/commands.ts';
import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import type { ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { hasFailedOn } from './facts.ts';
import {
  fleet,
  minutes,
  moment,
  NOW,
  type Parts,
  plan,
  POLICY,
  rebooting,
  type Rules,
  staging,
  updated,
  type World,
} from './fleet.ts';
import { after, amount, certainlyBusy, policy, seen, world } from './worlds.ts';
import { runs } from '../../random.ts';

const RUNS = runs(200);
const SAMPLE = runs(500);

/** In every world, under every policy. */
const always = (says: string, law: (snapshot: World, rules: Rules) => void): void =>
  test(says, () => fc.assert(fc.property(world, policy, law), RUNS));

test('the worlds of these properties are such that nodes start in many of them, and several in some', () => {
  const counts = fc
    .sample(fc.tuple(world, policy), { ...SAMPLE, seed: 1 })
    .map(([snapshot, rules]) => startsOf(plan(snapshot, rules, NOW)).length);
  expect(counts.filter((count) => count >= 1).length).toBeGreaterThan(0.3 * SAMPLE.numRuns);
  expect(counts.filter((count) => count >= 2).length).toBeGreaterThan(0.1 * SAMPLE.numRuns);
});
const startsOf = ({ commands }: Plan): readonly Start[] => commands.filter((command) => command.kind === 'start');
const capacityOf = ({ nodes }: World, { maxConcurrent }: Rules): number =>
  concurrency(maxConcurrent, nodes.filter(({ managed }) => managed).length);

always('there is exactly one verdict for each managed node', (snapshot, rules) => {
  const names = plan(snapshot, rules, NOW).verdicts.map((verdict) => verdict.node);
  expect(names).toEqual(snapshot.nodes.filter(({ managed }) => managed).map(({ name }) => name));
});

always('nothing starts beyond the concurrency', (snapshot, rules) => {
  const starts = startsOf(plan(snapshot, rules, NOW));
  const busy = certainlyBusy(snapshot);
  for (const { nodeUid } of starts) busy.add(nodeUid);
  if (starts.length > 0) expect(busy.size).toBeLessThanOrEqual(capacityOf(snapshot, rules));
});

always('nothing starts that a person, the schedule, the node or its last failure keeps from it', (snapshot, rules) => {
  for (const { node: name, shadow: shadowName } of startsOf(plan(snapshot, rules, NOW))) {
    const { held, managed, ready, askedBy, retryOf } = snapshot.nodes.find((one) => one.name === name)!;
    const { offeredAt, stale, status } = snapshot.shadows.find((one) => one.name === shadowName)!;
    const { open, triggeredAt } = snapshot.window;
    expect({ held, managed, ready, stale, paused: snapshot.paused }).toEqual({
      held: false,
      managed: true,
      ready: true,
      stale: false,
      paused: false,
    });
    expect(askedBy !== undefined || open || offeredAt! <= triggeredAt!).toBe(true);
    const failedAt = status!.state_transition_failure_timestamp;
    const waited = NOW - Date.parse(failedAt!);
    if (status!.crash_count > 0 && retryOf !== failedAt)
      expect(waited).toBeGreaterThan(2 ** status!.crash_count * 60_000);
  }
});

always('a plan depends on what there is and not on the order in which it came', (snapshot, rules) => {
  const turned = { ...snapshot, nodes: snapshot.nodes.toReversed(), shadows: snapshot.shadows.toReversed() };
  expect(plan(turned, rules, NOW)).toEqual(plan(snapshot, rules, NOW));
});

/** What a command that names a shadow writes to, where that is another object. */
const WRITES_TO: Readonly<Partial<Record<Command['kind'], string>>> = { free: 'permit', release: 'node' };

always('no object is written twice by one plan', (snapshot, rules) => {
  const written = plan(snapshot, rules, NOW).commands.flatMap((command) =>
    'shadow' in command ? [`${WRITES_TO[command.kind] ?? 'shadow'} ${command.shadow}`] : [],
  );
  expect(new Set(written).size).toBe(written.length);
});

always(
  'a plan that is carried out comes to rest, stays within the concurrency, and leaves no node waiting for a free place',
  (snapshot, rules) => {
    let now = snapshot;
    let next = plan(now, rules, NOW);
    for (let round = 0; next.commands.length > 0; round++) {
      expect(round).toBeLessThan(8);
      now = after(now, next.commands);
      next = plan(now, rules, NOW);
    }
    const waits = next.verdicts.some(({ position }) => position !== undefined);
    const outages = now.nodes.filter(({ ready, managed }) => !ready && managed).map(({ uid }) => uid);
    const active = now.shadows.filter(
      ({ spec, status }) => status && (status.current_state !== 'Idle' || spec.state !== 'Idle'),
    );
    const busy = new Set([...certainlyBusy(now), ...outages, ...active.flatMap(({ owners }) => owners)]);
    if (waits) expect(busy.size).toBeGreaterThanOrEqual(capacityOf(now, rules));
  },
);

/** How a node can stand, and whether it then takes a place. */
const STANDINGS = {
  waiting: { parts: {}, busy: false },
  done: { parts: updated, busy: false },
  staging: { parts: staging, busy: true },
  rebooting: { parts: rebooting, busy: true },
  'has failed': { parts: { status: { current_state: 'ErrorReset', crash_count: 1, failed_versions: [] } }, busy: true },
  'has just failed': {
    parts: { status: { crash_count: 1, failed_versions: [], state_transition_failure_timestamp: moment(0) } },
    busy: false,
  },
} as const satisfies Record<string, { parts: Parts; busy: boolean }>;

test('whenever a node may start and a place is free, as many start as there are', () => {
  const standings = fc.array(fc.constantFrom(...Object.values(STANDINGS)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(standings, amount, (members, maxConcurrent) => {
      const all = [STANDINGS.done, ...members];
      const snapshot = fleet(Object.fromEntries(all.map(({ parts }, index) => [`n${index}`, parts])));
      const rules = { ...POLICY, maxConcurrent };
      const waiting = members.filter((one) => one === STANDINGS.waiting).length;
      const free = Math.max(0, capacityOf(snapshot, rules) - members.filter(({ busy }) => busy).length);
      expect(startsOf(plan(snapshot, rules, NOW))).toHaveLength(Math.min(waiting, free));
    }),
    RUNS,
  );
});

test('a release that fails everywhere reaches no more nodes than the failure budget, at any concurrency', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      amount,
      amount,
      fc.infiniteStream(fc.boolean()),
      (size, maxConcurrent, maxFailed, coin) => {
        const rules = { ...POLICY, maxConcurrent, maxFailed };
        const names = Array.from({ length: size }, (_, index) => `n${index}`);
        let snapshot = fleet(Object.fromEntries(names.map((name) => [name, {}])));
        const reached = new Set<string>();
        for (let minute = 0; minute < 40; minute++) {
          const { commands } = plan(snapshot, rules, minutes(minute));
          for (const command of commands) if (command.kind === 'start') reached.add(command.node);
          snapshot = after(snapshot, commands, minutes(minute));
          const shadows = snapshot.shadows.map((one) =>
            coin.next().value ? seen(one, failing(one, minute), minutes(minute)) : one,
          );
          snapshot = { ...snapshot, shadows };
        }
        expect(reached.size).toBeLessThanOrEqual(failureBudget(maxFailed, size));
        expect(reached.size).toBeGreaterThan(0);
      },
    ),
    runs(40),
  );
});

always(
  'in any world, starts on a version stay within what may still fail of it, until a node has proven it',
  (snapshot, rules) => {
    const starts = startsOf(plan(snapshot, rules, NOW));
    for (const { node: name, spec } of starts) {
      const { family } = snapshot.nodes.find((one) => one.name === name)!;
      const kin = snapshot.nodes.filter((one) => one.managed && one.family === family);
      const own = snapshot.shadows.filter((one) => one.status && kin.some(({ uid }) => one.owners.includes(uid)));
      const { failed, fresh, finished } = standing(own, spec.version!, starts);
      const well = kin.filter((one) => one.ready && !snapshot.silentSince.has(one.name));
      const isWell = ({ owners }: ShadowView): boolean => well.some(({ uid }) => owners.includes(uid));
      const proven = finished.some(isWell);
      // Nobody may count on one that is away any more.
      const { underWay } = standing(own.filter(isWell), spec.version!, starts).fresh;
      const budget = failureBudget(rules.maxFailed, kin.length);
      if (fresh.starting > 0) expect(failed).toBeLessThan(budget);
      if (fresh.starting > 0 && !proven) expect(failed + fresh.starting + underWay).toBeLessThanOrEqual(budget);
    }
  },
);

always(
  'in any world, only a node that nothing was done to is called off, and a staged one is sent on where neither people nor its release forbid it',
  (snapshot, rules) => {
    const { commands, verdicts } = plan(snapshot, rules, NOW);
    const staged = snapshot.shadows.filter(
      ({ spec, status }) => status?.current_state === spec.state && isStaging(spec),
    );
    const asking = snapshot.shadows.filter(
      ({ spec, status }) => isRebooting(spec) && isStaging({ state: status?.current_state ?? 'Idle' }),
    );
    const untouched = asking.filter(
      ({ name, status }) =>
        !status!.reboot?.requested_at && !snapshot.nodes.find(({ shadowName }) => shadowName === name)?.marks,
    );
    const calledOff = commands.flatMap((command) => (command.kind === 'call-off' ? [command.shadow] : []));
    const preparing = snapshot.shadows.filter(({ spec }) => isStaging(spec));
    expect([...preparing, ...untouched].map(({ name }) => name)).toEqual(expect.arrayContaining(calledOff));
    for (const command of commands) {
      if (command.kind !== 'set-spec' || command.spec.state !== 'RebootedIntoUpdate') continue;
      const shadow = staged.find(({ name }) => name === command.shadow)!;
      const { name, held } = snapshot.nodes.find(({ shadowName }) => shadowName === command.shadow)!;
      // It counts as one that failed on the version itself, and those may always try again.
      const isBlamed = verdicts.some(({ node, reason }) => node === name && reason === 'NotReturned');
      const halted = !isBlamed && isHaltedFor(shadow, snapshot, rules);
      expect({ held, paused: snapshot.paused, halted }).toEqual({
        held: false,
        paused: false,
        halted: false,
      });
    }
  },
);

const isRebooting = ({ state }: ShadowView['spec']): boolean => state === 'RebootedIntoUpdate';
const isStaging = ({ state }: ShadowView['spec']): boolean => state === 'StagedAndPerformedUpdate';

/** Whether too many of its kind failed on its version, and it is none of them. */
function isHaltedFor(shadow: ShadowView, { nodes, shadows }: World, { maxFailed }: Rules): boolean {
  const { family } = nodes.find(({ shadowName }) => shadowName === shadow.name)!;
  const kin = nodes.filter((one) => one.managed && one.family === family);
  const own = shadows.filter((one) => one.status && kin.some(({ uid }) => one.owners.includes(uid)));
  const version = shadow.spec.version!;
  return !hasFailedOn(shadow, version) && standing(own, version, []).failed >= failureBudget(maxFailed, kin.length);
}

/** How a version does on the nodes of these shadows, as the statuses record it. A node is fresh that is not known to have failed on it. */
function standing(
  own: readonly ShadowView[],
  version: string,
  starts: readonly Start[],
): { failed: number; fresh: { starting: number; underWay: number }; finished: readonly ShadowView[] } {
  const fresh = own.filter((one) => !hasFailedOn(one, version));
  const startsNow = ({ name }: ShadowView): boolean =>
    starts.some(({ shadow, spec }) => shadow === name && spec.version === version);
  const isMoving = ({ spec, status }: ShadowView): boolean => spec.state !== 'Idle' || status!.current_state !== 'Idle';
  const isUnderWay = (one: ShadowView): boolean => isMoving(one) && one.spec.version === version && !startsNow(one);
  return {
    failed: own.length - fresh.length,
    fresh: { starting: fresh.filter(startsNow).length, underWay: fresh.filter(isUnderWay).length },
    finished: own.filter((one) => !isMoving(one) && one.status!.current_version === version),
  };
}

/** A host on which the new release never boots. */
function failing(one: ShadowView, minute: number): ShadowView {
  const { spec, status } = one;
  if (!status || spec.state === status.current_state) return one;
  if (spec.state === 'Idle') return { ...one, status: { ...status, current_state: 'Idle' } };
  if (spec.state === 'StagedAndPerformedUpdate') return { ...one, status: { ...status, current_state: spec.state } };
  const crash_count = status.crash_count + 1;
  const failure = {
    current_state: 'ErrorReset',
    crash_count,
    failed_versions: ['1.1.0'],
    last_failure: { state: 'RebootedIntoUpdate', reason: 'BootFailed', message: '', time: moment(minute) },
    state_transition_failure_timestamp: moment(minute),
  } as const;
  return { ...one, status: { ...status, ...failure, failed_versions: [...failure.failed_versions] } };
}
