import { describe, expect, test } from '@jest/globals';
import type { ApiAnswer } from '../../runtime/agent/apiserver/client.ts';
import type { FailureReason } from '../../runtime/api/shadow/model.ts';
import { FAULTS, type FaultName, OF_SETTINGS } from '../../lab/sim/hosts/faults.ts';
import { reports } from './hand.ts';
import { seeds, some } from '../random.ts';
import { type DriverName, DRIVERS } from './drivers.ts';
import { World } from './world.ts';

/**
 * What becomes of the node: `updated anew` = to what is offered meanwhile, by a second attempt; `updated twice` = to that, by a second update;
 * `at rest` = nothing can be done, and nothing was; `gone` = the host does not come back.
 */
type Outcome = 'updated' | 'updated anew' | 'updated twice' | 'at rest' | 'gone' | FailureReason;

/** When both faults begin: with the request that opens the step. */
const STEPS = {
  offer: (world: World, ask: string) => ask === 'createShadow' && world.asked('refresh-updates') === 0,
  prepare: (world: World, ask: string) => ask === 'putStatus' && world.asked('refresh-updates') === 1,
  leave: (_: World, ask: string) => ask === 'excludeFromLb',
  drain: (_: World, ask: string) => ask === 'cordonAndDrain',
  reboot: (world: World, ask: string) => ask === 'putStatus' && world.asked('activate-update') === 1,
  back: (_: World, ask: string) => ask === 'uncordon',
} as const;
type StepName = keyof typeof STEPS;
type Row = Readonly<Record<StepName, Outcome>>;
type Unfelt = (typeof OF_SETTINGS)[number];

const row = (offer: Outcome, prepare: Outcome, drain: Outcome, reboot: Outcome): Row => ({
  offer,
  prepare,
  // Leaving the load balancers and the drain come between the same two of the host's actions.
  leave: drain,
  drain,
  reboot,
  // Once it runs the new version a host is asked for nothing any more.
  back: 'updated',
});
const always = (end: Outcome): Row => row(end, end, end, end);

/** Each of its actions reads the repository first. */
const REPOSITORY_AWAY = row('at rest', 'HostFailed', 'HostFailed', 'updated');

const UNFELT = Object.fromEntries(OF_SETTINGS.map((fault) => [fault, always('updated')])) as Record<Unfelt, Row>;

/** By the fault of the host, and the step in which it begins, where its API drives it. What befalls the cluster meanwhile changes nothing. */
const MATRIX: Readonly<Record<FaultName, Row>> = {
  boot: always('BootFailed'),
  // Nothing starts it again.
  unmarked: always('updated'),
  refresh: row('at rest', 'updated', 'updated', 'updated'),
  // These last: what the host had begun to write until the step's deadline, and could not, is the release's.
  prepare: row('PrepareFailed', 'PrepareFailed', 'updated', 'updated'),
  migration: row('PrepareFailed', 'PrepareFailed', 'updated', 'updated'),
  // Time does not help.
  'no-migrations': row('PrepareFailed', 'PrepareFailed', 'updated', 'updated'),
  'repository-gone': REPOSITORY_AWAY,
  activate: row('HostFailed', 'HostFailed', 'HostFailed', 'updated'),
  deactivate: always('updated'),
  busy: always('updated'),
  reader: always('updated'),
  'dispatcher-missing': row('at rest', 'Unsupported', 'Unsupported', 'updated'),
  'dispatcher-failed': always('updated'),
  'repository-expired': REPOSITORY_AWAY,
  'repository-dropped': REPOSITORY_AWAY,
  'repository-silent': REPOSITORY_AWAY,
  // It is killed once; the step begins the action again. An activation that has taken hold without it is undone by another download.
  'dispatcher-killed': always('updated'),
  'updog-killed': always('updated'),
  'updog-missing': row('at rest', 'HostFailed', 'HostFailed', 'updated'),
  // Until it boots.
  'torn-status': row('at rest', 'HostFailed', 'HostFailed', 'updated'),
  // It chooses nothing anew, and so nothing at first.
  'stale-choice': row('at rest', 'updated', 'updated', 'updated'),
  // It keeps the lock until the next boot, which is beyond every deadline.
  hang: row('at rest', 'HostFailed', 'HostFailed', 'updated'),
  garbage: always('updated'),
  truncated: always('updated'),
  silent: always('updated'),
  slow: always('updated'),
  'socket-gone': always('updated'),
  'socket-replaced': always('updated'),
  'half-open': always('updated'),
  denied: always('updated'),
  'offer-gone': always('updated'),
  'offer-changed': always('updated'),
  released: row('updated anew', 'updated anew', 'updated', 'updated'),
  'torn-settings': row('HostFailed', 'HostFailed', 'updated', 'updated'),
  ...UNFELT,
  reworded: always('updated'),
  'no-wave': always('updated'),
  // Each comes to rest on the older release, from wherever it was.
  downgrade: { ...always('at rest'), prepare: 'updated anew', back: 'at rest' },
  'staged-by-hand': always('updated'),
  'activated-by-hand': always('updated'),
  // Deactivated again, and the wanted one is prepared in its place.
  'restaged-by-hand': always('updated'),
  inhibitor: always('updated'),
  'reboot-500': always('updated'),
  'reboot-dropped': always('updated'),
  'reboot-ignored': always('RebootFailed'),
  'unplanned-reboot': always('updated'),
  'no-return': always('gone'),
};

const AT_REST: Partial<Row> = { prepare: 'at rest', leave: 'at rest', drain: 'at rest', reboot: 'at rest' };

/** A shadow that is deleted takes the attempt with it: the next one begins with a look for updates, and meets the fault there. */
const AFRESH: Partial<Record<FaultName, Partial<Row>>> = {
  refresh: AT_REST,
  activate: { reboot: 'HostFailed' },
  'repository-gone': AT_REST,
  'repository-expired': AT_REST,
  'repository-dropped': AT_REST,
  'repository-silent': AT_REST,
  'updog-missing': AT_REST,
  'torn-status': AT_REST,
  downgrade: { prepare: 'at rest' },
  // The host is activated already, and nothing can be prepared over that: the host's fault, for the release has not been tried.
  deactivate: { reboot: 'HostFailed' },
  'dispatcher-missing': AT_REST,
  // The new attempt prepares again, which undoes what nobody knows of.
  'dispatcher-killed': always('updated'),
  hang: AT_REST,
};

/** Where updog drives the host, what differs. */
const UPDOG: Partial<Record<FaultName, Partial<Row>>> = {
  'dispatcher-killed': always('updated'),
  'torn-status': always('updated'),
  'updog-missing': MATRIX['dispatcher-missing'],
  'stale-choice': always('updated'),
  // It is killed at the deadline, with which the time for the step is over. Nothing is locked then.
  hang: { offer: 'updated' },
  // Killed likewise. What an activation did before that is on the disk.
  'half-open': { prepare: 'HostFailed' },
  // It is told which version to write, whatever came out meanwhile, and whatever it would choose itself.
  released: { offer: 'updated twice', prepare: 'updated twice' },
  'torn-settings': always('updated'),
  downgrade: { prepare: 'at rest' },
  // Nothing else tells what was written.
  reworded: { offer: 'HostFailed', prepare: 'HostFailed' },
  // Nor what somebody else has written over it: the host boots that, and says so.
  'restaged-by-hand': { ...always('updated anew'), reboot: 'updated', back: 'updated' },
};

/** Where updog drives it and its shadow is deleted: the image is written again, and meets what befalls the writing, from an activated host too. */
const UPDOG_AFRESH: Partial<Record<FaultName, Partial<Row>>> = {
  'updog-missing': AT_REST,
  prepare: { reboot: 'PrepareFailed' },
  migration: { reboot: 'PrepareFailed' },
  'no-migrations': { reboot: 'PrepareFailed' },
  hang: always('updated'),
  'half-open': { prepare: 'updated' },
  released: { reboot: 'updated twice' },
  reworded: { reboot: 'HostFailed' },
  'restaged-by-hand': { reboot: 'updated anew' },
};

function expectedOf(driver: DriverName, fault: FaultName, isAfresh: boolean): Row {
  const usual = { ...MATRIX[fault], ...(isAfresh && AFRESH[fault]) };
  return driver === 'updog' ? { ...usual, ...UPDOG[fault], ...(isAfresh && UPDOG_AFRESH[fault]) } : usual;
}

type End = () => void;

const answering =
  (answer: ApiAnswer) =>
  ({ operator }: World): End => {
    operator.answer = () => answer;
    return () => (operator.answer = () => undefined);
  };

const UNREACHABLE = answering({ kind: 'again', message: 'ECONNREFUSED' });

const unwatched = ({ operator }: World): End => {
  operator.watchable = false;
  return () => (operator.watchable = true);
};

/** Each returns what ends it. */
const CLUSTER_FAULTS: Readonly<Record<string, (world: World) => End>> = {
  'no fault': () => () => undefined,
  'the apiserver away': UNREACHABLE,
  'the whole cluster away': (world) => {
    const ends = [unwatched(world), UNREACHABLE(world)];
    return () => ends.forEach((end) => end());
  },
  'the watch lost': unwatched,
  '401 for a token that has expired': answering({ kind: 'unauthorized', message: '401' }),
  '409 to everything': answering({ kind: 'refused', message: '409' }),
  '500 to everything': answering({ kind: 'failed', message: '500' }),
  'a shadow that others write': ({ operator }) => {
    let writes = 3;
    operator.before = (ask) => {
      if (ask === 'putStatus' && operator.shadow.value?.status && writes-- > 0) operator.overwrite({});
    };
    return () => (operator.before = () => undefined);
  },
  'the shadow deleted': ({ operator }) => {
    operator.rescuing = true;
    operator.deleteShadow();
    return () => undefined;
  },
};

const MINUTE_MS = 60_000;
const LB_WAIT_MS = 500;
const TIMES = { refreshMs: 200, prepareMs: 2000, rebootMs: 5000, shutdownMs: 1000 };

/** A world that meets the two faults: the host's for as long as it lasts, the cluster's for a minute. */
function disturbed(step: StepName, { driver, fault, befall }: Cell): World {
  const world = new World({ driver, hostTimes: TIMES, times: { lbWaitMs: LB_WAIT_MS } });
  world.operator.drainMs = 1000;
  world.operator.before = (ask) => {
    if (!STEPS[step](world, ask)) return;
    world.operator.before = () => undefined;
    world.host.inject(fault);
    void world.clock.sleep(MINUTE_MS).then(befall(world));
  };
  return world;
}

function outcome(world: World): string {
  if (!world.host.boot) return 'gone';
  if (!world.idle || world.operator.node.cordoned) return 'under way';
  if (world.updated) return 'updated';
  return world.host.version === '1.38.0' ? unchanged(world) : otherwise(world);
}

function otherwise(world: World): string {
  if (reports(world).length > 0) return 'updated anew';
  return world.host.version === '1.40.0' ? 'updated twice' : 'at rest';
}

function unchanged(world: World): string {
  return world.restored ? (world.operator.status.last_failure?.reason ?? 'under way') : 'at rest';
}

/** Longer than any pause of the agent's in which the node seems to be at rest. */
const REST_MS = 10 * MINUTE_MS;
const LOOK_MS = 5_000;

/** How it comes out: what is so at last, and stays so. Nothing here knows what is hoped for. */
async function final(world: World): Promise<string> {
  let [seen, since] = [outcome(world), world.clock.now()];
  for (let waited = 0; waited < 90 * MINUTE_MS; waited += LOOK_MS) {
    if (seen !== 'under way' && world.clock.now() - since >= REST_MS) return seen;
    await world.advance(LOOK_MS);
    if (outcome(world) !== seen) [seen, since] = [outcome(world), world.clock.now()];
  }
  return seen;
}

interface Cell {
  readonly driver: DriverName;
  readonly cluster: string;
  readonly befall: (world: World) => End;
  readonly fault: FaultName;
}

const faults = Object.keys(MATRIX) as FaultName[];
const cells: readonly Cell[] = DRIVERS.flatMap((driver) =>
  Object.entries(CLUSTER_FAULTS).flatMap(([cluster, befall]) =>
    faults.map((fault) => ({ driver, cluster, befall, fault })),
  ),
);
const [seed = 1] = seeds(1);

/** A third of the faults of a host alone, and a few of those that one of the cluster comes to, others in each run: at night, all. */
const [alone = [], together = []] = [true, false].map((isAlone) =>
  cells.filter(({ cluster }) => (cluster === 'no fault') === isAlone),
);
const drawn = [...some(alone, 36, seed), ...some(together, 12, seed)];

describe(`two faults (seed ${seed})`, () => {
  test.each(drawn)('$driver: $fault, with $cluster', async (cell) => {
    const expected = expectedOf(cell.driver, cell.fault, cell.cluster === 'the shadow deleted');
    const seen: Partial<Record<StepName, string>> = {};
    for (const step of Object.keys(STEPS) as StepName[]) {
      const world = disturbed(step, cell);
      seen[step] = await final(world);
      const failed = !['updated', 'updated twice', 'at rest', 'gone'].includes(expected[step]);
      expect({ step, reports: reports(world).length }).toEqual({ step, reports: failed ? 1 : 0 });
      expect(world.undrainedReboots).toEqual([]);
      expect(world.ends.filter((end) => end !== 'stopped')).toEqual([]);
      if (expected[step] !== 'gone') expect(world.operator.node).toMatchObject({ cordoned: false, lbExcluded: false });
      world.end();
    }
    expect(seen).toEqual(expected);
  });
});

test('the table names every fault of a host', () => {
  expect(Object.keys(MATRIX).toSorted()).toEqual(Object.keys(FAULTS).toSorted());
});
