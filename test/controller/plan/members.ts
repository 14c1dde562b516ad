import * as fc from 'fast-check';
import type { DrainRefusal, NodeView, ShadowView, Snapshot } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { UP_TO_DATE } from '../../../runtime/api/shadow/names.ts';
import { type State, STATES } from '../../../runtime/api/shadow/states.ts';
import { asked, DRAINED, MARKS, minutes, moment, node, NOW, shadow, permit } from './fleet.ts';

/** Nodes as they may be found, most of them in order: a fleet in which nearly every node is in trouble starts nothing. */

/** Values of the label by which policies select nodes. */
export const POOLS = ['p0', 'p1', 'p2'] as const;
export const ZONE = 'topology.kubernetes.io/zone';

const VERSIONS = ['1.0.0', '1.1.0', '1.2.0'] as const;
const version = fc.constantFrom(...VERSIONS);
/** Shrinks to false. */
export const rarely = fc.nat(9).map((dice) => dice === 9);
/** Minutes. */
export const ago = fc.integer({ min: 0, max: 120 });

export interface Member {
  readonly node: NodeView;
  readonly shadow: ShadowView | undefined;
  readonly permit: Snapshot['permits'][number] | undefined;
  readonly silentSince: number | undefined;
  /** Since when its policy rules it, where that is news. */
  readonly ruledSince: number | undefined;
  readonly drainRefusal: DrainRefusal | undefined;
}

/** Where a node is in its updates, which decides over most of the rest. */
type Standing = 'waiting' | 'done' | 'moving' | 'monitoring' | 'failed' | 'spent' | 'anything' | 'bare' | 'statusless';
const standing: fc.Arbitrary<Standing> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('waiting' as const) },
  { weight: 2, arbitrary: fc.constantFrom('done' as const, 'moving' as const, 'monitoring' as const) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'failed' as const,
      'spent' as const,
      'anything' as const,
      'bare' as const,
      'statusless' as const,
    ),
  },
);

/** What went wrong with a node, besides where it stands; nothing with most. */
const TROUBLES = [
  'unmanaged',
  'held',
  'down',
  'marked',
  'unschedulable',
  'other',
  'stale',
  'silent',
  'joins',
  'newly ruled',
] as const;
const troubles: fc.Arbitrary<ReadonlySet<(typeof TROUBLES)[number]>> = fc
  .oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...TROUBLES)) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...TROUBLES), { maxLength: 4 }) },
  )
  .map((names) => new Set(names));

type Steps = Pick<ShadowView['spec'], 'state'> & { readonly current_state: State };
const IDLE: Steps = { state: 'Idle', current_state: 'Idle' };

const steps: Readonly<Record<Standing, fc.Arbitrary<Steps>>> = {
  waiting: fc.constant(IDLE),
  done: fc.constant(IDLE),
  spent: fc.constant(IDLE),
  bare: fc.constant(IDLE),
  statusless: fc.constant(IDLE),
  moving: fc.constantFrom(
    { state: 'StagedAndPerformedUpdate', current_state: 'Idle' },
    { state: 'StagedAndPerformedUpdate', current_state: 'StagedAndPerformedUpdate' },
    { state: 'RebootedIntoUpdate', current_state: 'StagedAndPerformedUpdate' },
    { state: 'RebootedIntoUpdate', current_state: 'RebootedIntoUpdate' },
  ),
  monitoring: fc.constantFrom(
    { state: 'MonitoringUpdate', current_state: 'RebootedIntoUpdate' },
    { state: 'MonitoringUpdate', current_state: 'MonitoringUpdate' },
    { state: 'Idle', current_state: 'MonitoringUpdate' },
  ),
  failed: fc.constantFrom(
    { state: 'RebootedIntoUpdate', current_state: 'ErrorReset' },
    { state: 'Idle', current_state: 'ErrorReset' },
  ),
  anything: fc.record({
    state: fc.constantFrom('Idle' as const, ...STATES.slice(0, 4)),
    current_state: fc.constantFrom('Idle' as const, ...STATES),
  }),
};

/** Of a node at rest: at the target or not, as it stands there. */
function versionsOf(stands: Standing, current: string, target: string): readonly [current: string, target: string] {
  if (stands === 'done' || stands === 'spent') return [target, target];
  return stands === 'waiting' && current === target ? ['1.0.0', '1.1.0'] : [current, target];
}

/** Failures in a row: an update that was completed has made up for them. */
function crashesOf(stands: Standing): fc.Arbitrary<number> {
  if (stands === 'spent') return fc.constant(0);
  return stands === 'failed' || stands === 'anything' ? fc.integer({ min: 0, max: 3 }) : rarely.map(Number);
}

/** How a node stands in detail. Times are minutes ago, at which this process has seen something. */
const diceFor = (stands: Standing) =>
  fc.record({
    stands: fc.constant(stands),
    troubles,
    steps: steps[stands],
    permitted: stands === 'waiting' || stands === 'done' ? rarely : fc.boolean(),
    writes: fc.constantFrom('settled' as const, 'settled' as const, 'unknown' as const, 'gone' as const),
    tookMinutes: fc.option(ago, { nil: undefined }),
    silent: ago,
    changed: ago,
    since: ago,
    offered: ago,
    finished: fc.option(ago, { nil: undefined }),
    /** Minutes until a node that was called off may try again; below 0, until now, for how long its drain has been refused. */
    refused: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
    ),
    /** By how much older the times are that nodes state of the same. */
    lag: fc.constantFrom(0, 0, 30),
    current: version,
    target: version,
    aim: version,
    crashes: crashesOf(stands),
    failed: fc.option(fc.uniqueArray(version, { maxLength: 2 }), { freq: 1, nil: undefined }),
    recorded: fc.boolean(),
    boot: fc.option(fc.constantFrom('boot-1', 'boot-0'), { nil: undefined }),
    requested: fc.boolean(),
    drained: fc.boolean(),
    runs: version,
    said: fc.constantFrom(undefined, undefined, undefined, 'NotReturned', 'SoakFailed'),
    /** Somebody has asked for its update, or for an end of its pause. */
    asked: rarely,
    retried: fc.nat(4).map((dice) => dice === 4),
    pool: fc.constantFrom(...POOLS),
    zone: fc.constantFrom(undefined, 'z0', 'z1', 'z2'),
    age: fc.nat(2),
    upToDate: fc.option(ago, { nil: undefined }),
    ended: fc.option(ago, { nil: undefined }),
  });

type Dice = ReturnType<typeof diceFor> extends fc.Arbitrary<infer Drawn> ? Drawn : never;

export const member = (name: string): fc.Arbitrary<Member> =>
  standing.chain(diceFor).map((dice) => {
    const on = nodeOf(name, dice);
    return {
      node: on,
      shadow: dice.stands === 'bare' ? undefined : asked(shadowOf(name, dice), on, minutes(-dice.since)),
      permit: dice.permitted ? permit(name, dice.writes) : undefined,
      silentSince: dice.troubles.has('silent') ? minutes(-dice.silent) : undefined,
      ruledSince: dice.troubles.has('newly ruled') ? NOW - (dice.silent % 30) * 1000 : undefined,
      drainRefusal: refusalOf(dice),
    };
  });

function nodeOf(name: string, dice: Dice): NodeView {
  const { troubles: has, changed, lag, drained, runs, pool, zone, age, asked: isAsked, retried } = dice;
  return node(name, {
    labels: { pool, ...(zone !== undefined && { [ZONE]: zone }) },
    createdAt: minutes(-30_000 - age),
    managed: !has.has('unmanaged'),
    joinable: has.has('joins'),
    held: has.has('held'),
    ready: !has.has('down'),
    readyChangedAt: minutes(-changed - lag),
    readinessSeenAt: minutes(-changed),
    unschedulable: has.has('unschedulable'),
    marks: has.has('marked') ? (drained ? DRAINED : MARKS) : undefined,
    version: runs,
    ...(has.has('other') && { family: 'other' }),
    ...(isAsked && { askedBy: 'ann' }),
    ...(retried && { retryOf: statedOf(dice) }),
  });
}

function shadowOf(name: string, dice: Dice): ShadowView {
  const { stands, steps: stepped, finished, tookMinutes } = dice;
  const isNamed = stepped.state !== 'Idle' || stands === 'spent' || stands === 'failed';
  return shadow(name, {
    stale: dice.troubles.has('stale'),
    stateSeenAt: minutes(-dice.since),
    offeredAt: minutes(-dice.offered),
    finishedAt: finished === undefined ? undefined : minutes(-finished),
    upToDateSince: dice.upToDate === undefined ? undefined : minutes(-dice.upToDate),
    endedAt: dice.ended === undefined ? undefined : minutes(-dice.ended),
    lastUpdateMs: tookMinutes === undefined ? undefined : tookMinutes * 60_000,
    spec: {
      state: stepped.state,
      version: isNamed ? dice.aim : null,
      state_transition_timestamp: isNamed ? statedOf(dice) : null,
    },
    status: stands === 'statusless' ? null : statusOf(dice),
  });
}

/** What its drain is refused for, where it is. A node that has newly staged a version has no drain. */
function drainOf({ refused, steps: { state } }: Dice): NonNullable<ShadowView['status']>['drain'] {
  return refused === undefined || state === 'StagedAndPerformedUpdate'
    ? null
    : { started_at: moment(0), pods_left: 1, blocked_by: ['a budget'] };
}

function refusalOf({ refused, steps: { state } }: Dice): DrainRefusal | undefined {
  if (refused === undefined) return undefined;
  if (refused > 0) return { kind: 'called-off', retryAt: minutes(refused) };
  return state === 'RebootedIntoUpdate' ? { kind: 'refused', since: minutes(refused) } : undefined;
}

const statedOf = ({ since, lag }: Dice): string => moment(-since - lag);

function statusOf(dice: Dice): NonNullable<ShadowView['status']> {
  const [current_version, target_version] = versionsOf(dice.stands, dice.current, dice.target);
  const stated = statedOf(dice);
  const failure = { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: '', time: stated } as const;
  const { boot, requested, said, recorded, failed = null, aim } = dice;
  return {
    current_state: dice.steps.current_state,
    current_version,
    target_version,
    crash_count: dice.crashes,
    state_transition_failure_timestamp: stated,
    last_failure: recorded ? failure : null,
    failed_versions: failed,
    drain: drainOf(dice),
    reboot: boot === undefined ? null : { boot_id: boot, version: aim, requested_at: requested ? stated : null },
    conditions:
      said === undefined
        ? null
        : [{ type: UP_TO_DATE, status: 'Unknown', reason: said, message: '', lastTransitionTime: stated }],
  };
}
