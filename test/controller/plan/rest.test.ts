import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import type { ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { fleet, MARKS, node, NOW, plan, POLICY, type Rules, permit, updated, type World } from './fleet.ts';
import { anyWorld } from './policies.ts';
import { after, policy } from './worlds.ts';
import { runs } from '../../random.ts';

/**
 * A plan that was carried out has nothing left to say, but for what rules demand a second look for: each write is made on what the one before
 * it has left, and seen to have left.
 */
const RUNS = runs(300);

/** Plans until nothing is left to do, each made on what the one before it has left. */
function rounds(snapshot: World, rules: Rules): readonly Plan[] {
  const made: Plan[] = [];
  let now = snapshot;
  let next = plan(now, rules, NOW);
  while (next.commands.length > 0 && made.length < 20) {
    made.push(next);
    now = after(now, next.commands);
    next = plan(now, rules, NOW);
  }
  return made;
}

const subject = (command: Command): string => ('shadow' in command ? command.shadow : `brs-${command.node}`);
/** A reboot that is noted, and a note that is taken back, are two things. */
const named = (command: Command): string =>
  `${command.kind} ${subject(command)} ${command.kind === 'note-reboot' ? command.rebootAskedAt : ''}`;

/**
 * The same world with nothing in it to clean up after, with nobody who asks for anything, who turns to another version or leaves one that others are offered, and
 * with agents that say what failed: a start makes of a failure without a record one of the version that is started on.
 */
function tidy(snapshot: World): World {
  const nobody = { askedBy: undefined, retryOf: undefined };
  const nodes = snapshot.nodes.map((one) => ({ ...one, ...nobody, managed: true, marks: undefined }));
  const shadows = snapshot.shadows.map((one) => (one.status ? { ...one, status: tidied(one.spec, one.status) } : one));
  return { ...snapshot, nodes, shadows, permits: [], silentSince: new Map() };
}

function tidied(spec: ShadowView['spec'], status: NonNullable<ShadowView['status']>): ShadowView['status'] {
  const recorded = { ...status, failed_versions: status.failed_versions ?? [] };
  if (status.current_version === status.target_version) return recorded;
  if (spec.state === 'Idle' || spec.version == null) return { ...recorded, current_version: '0.9.0' };
  return { ...recorded, target_version: spec.version };
}

/**
 * What waits for room goes on with the next plan, where this one has given some back, and a node that this one has brought to rest is among those
 * who prove its release from the next one on: no property of what is left to do.
 */
function orElseGivesRoom(snapshot: World, plans: readonly Plan[]): readonly Plan[] {
  const later = plans.slice(1).flatMap(({ commands }) => commands);
  fc.pre(!later.some((command) => command.kind === 'set-spec' && command.spec.state === 'RebootedIntoUpdate'));
  const isDisplaced = ({ commands }: Plan, index: number): boolean =>
    commands.some((one) => isProvenInstead(snapshot, plans.slice(0, index), one));
  fc.pre(!plans.some(isDisplaced));
  return plans;
}

/**
 * Called off, and started by none of these plans, for a node that by the plan just before runs the same version and rests, or that it has told to go
 * down: nobody else may be on trial then.
 */
function isProvenInstead({ shadows }: World, before: readonly Plan[], command: Command): boolean {
  if (command.kind !== 'call-off' || command.because.reason !== 'Unproven') return false;
  const { version } = command.spec;
  const run = new Set(shadows.flatMap(({ name, status }) => (status?.current_version === version ? name : [])));
  const isRest = (one: Command): boolean =>
    (one.kind === 'set-spec' || one.kind === 'call-off') &&
    one.spec.state === 'Idle' &&
    one.spec.version === version &&
    run.has(one.shadow);
  const isTold = (one: Command): boolean => one.kind === 'set-spec' && one.spec.state === 'RebootedIntoUpdate';
  const isStart = (one: Command): boolean => one.kind === 'start' && one.shadow === command.shadow;
  return (
    before.at(-1)?.commands.some((one) => isRest(one) || isTold(one)) === true &&
    !before.some(({ commands }) => commands.some(isStart))
  );
}

/** Who waits until another one has tried the release starts with the plan after that one has come to rest: there is room for it. */
function orElseIsNext(plans: readonly Plan[]): readonly Plan[] {
  const isRest = (one: Command): boolean => one.kind === 'set-spec' && one.spec.state === 'Idle';
  const follows = ({ commands }: Plan, index: number): boolean =>
    commands.some(({ kind }) => kind === 'start') && plans[index]!.commands.some(isRest);
  fc.pre(!plans.slice(1).some(follows));
  return plans;
}

describe('a plan that was carried out', () => {
  test('is never asked for again', () => {
    fc.assert(
      fc.property(anyWorld, policy, (snapshot, rules) => {
        const plans = rounds(snapshot, { ...rules, conditionWrites: 0 });
        for (const [index, { commands }] of plans.slice(1).entries()) {
          const before = new Set(plans[index]!.commands.map(named));
          expect(commands.map(named).filter((name) => before.has(name))).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  test('leaves nothing to do where there is nothing to clean up after', () => {
    fc.assert(
      fc.property(anyWorld.map(tidy), policy, (snapshot, rules) => {
        const plans = orElseGivesRoom(snapshot, rounds(snapshot, { ...rules, conditionWrites: 0 }));
        expect(orElseIsNext(plans).length).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  });

  test('leaves the conditions of what it has written, and no more', () => {
    fc.assert(
      fc.property(anyWorld.map(tidy), policy, (snapshot, rules) => {
        const plans = orElseGivesRoom(snapshot, rounds(snapshot, { ...rules, conditionWrites: 600 }));
        const [first, second, third] = orElseIsNext(plans);
        const written = new Set(first?.commands.map(subject));
        const rest = second?.commands ?? [];
        expect(rest.map(({ kind }) => kind).filter((kind) => kind !== 'set-condition')).toEqual([]);
        expect(rest.map(subject).filter((name) => !written.has(name))).toEqual([]);
        expect(third).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('is followed by a cleanup in which each write needs the one before it', () => {
    fc.assert(
      fc.property(anyWorld, policy, (snapshot, rules) => {
        const made = orElseGivesRoom(snapshot, rounds(snapshot, { ...rules, conditionWrites: 0 }));
        const plans = made.map(({ commands }) => commands);
        expect(plans.length).toBeLessThanOrEqual(LONGEST_CLEANUP.length);
        for (const [index, commands] of plans.slice(1).entries()) {
          expect(commands.filter((command) => !isDueTo(plans[index]!, command))).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  test('is followed by four more at most', () => {
    const unmanaged = node('a', { managed: false, marks: MARKS });
    const nodes = [unmanaged, node('b', { askedBy: 'ann' })];
    const snapshot = fleet({ a: updated, b: {} }, { nodes, permits: [permit('a', 'unknown')] });
    const silent = { ...snapshot, silentSince: new Map([['a', NOW]]) };
    const kinds = rounds(silent, POLICY).map(({ commands }) => commands.map(({ kind }) => kind));
    expect(kinds).toEqual(LONGEST_CLEANUP);
  });
});

const LONGEST_CLEANUP = [['delete-shadow'], ['release', 'bump'], ['free'], ['start'], ['forget']];

/** What has to be seen done to an object before a command on it: a permit settles only on a shadow, and on a node, that is left alone. */
const DUE_TO: Readonly<Partial<Record<Command['kind'], readonly Command['kind'][]>>> = {
  bump: ['call-off', 'delete-shadow', 'rescue', 'set-spec'],
  'note-reboot': ['bump', 'disown', 'set-spec'],
  free: ['bump', 'delete-shadow', 'release', 'rescue', 'set-spec'],
  release: ['delete-shadow'],
  forget: ['start', 'release', 'rescue', 'set-spec'],
  'set-spec': ['release'],
  start: ['bump', 'release'],
};
/**
 * What gives a place to whoever waits, besides an update that ends: a node that turns to another version leaves one in the failure budget of the version before, and a
 * start in doubt does that turns out never to have been made. Whoever may start then and finds no place has another called off.
 */
const GIVE_PLACE: ReadonlySet<Command['kind']> = new Set([
  'bump',
  'delete-shadow',
  'free',
  'release',
  'rescue',
  'start',
]);

function isDueTo(before: readonly Command[], command: Command): boolean {
  const causes = DUE_TO[command.kind] ?? [];
  if (before.some((one) => subject(one) === subject(command) && causes.includes(one.kind))) return true;
  return takesPlace(command) && before.some(givesPlace);
}

/** A node that is disturbed takes one of those that count what is out of service. */
const takesPlace = (command: Command): boolean =>
  command.kind === 'start' ||
  command.kind === 'call-off' ||
  (command.kind === 'set-spec' && command.spec.state === 'RebootedIntoUpdate');

function givesPlace(command: Command): boolean {
  return GIVE_PLACE.has(command.kind) || (command.kind === 'set-spec' && command.spec.state === 'Idle');
}
