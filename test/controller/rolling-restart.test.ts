import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Spec } from '../../runtime/api/shadow/model.ts';
import { CONTROLLER_LEASE, HOLD_ANNOTATION, nodeNameOf, shadowName } from '../../runtime/api/shadow/names.ts';
import { releasesOf } from '../../runtime/api/resources.ts';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import { seeded } from '../random.ts';
import { HandMoved, isUnderWay, isUpdated, type Seen } from './hand-moved.ts';
import { OlderController } from './older-controller.ts';
import { Stage } from './stage.ts';
import { takesPermit, writesSpec } from './transports.ts';

/** A rolling restart in mid-rollout: a controller of an older release of ours and the present one both run, and the Lease goes from one to the other. */

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
const CONCURRENCY = 2;
type Kind = 'older' | 'ours';

type SleepsBefore = (request: KubeRequest) => boolean | Promise<boolean>;

/** The way to the cluster of one process. */
class Line {
  #way: 'up' | 'cut' | 'asleep' = 'up';
  #sleepsBefore: SleepsBefore = () => false;
  #woken = Promise.withResolvers<void>();
  readonly #to: KubeTransport;

  constructor(to: KubeTransport) {
    this.#to = to;
  }

  readonly transport: KubeTransport = {
    request: (request) => this.#request(request),
    watch: (watch) => this.#to.watch(watch),
  };

  cut(): void {
    this.#way = 'cut';
  }

  /** From the first such request on, whatever is asked is on its way until `heal`, and lands then, whoever has given up waiting for it. */
  sleepBefore(which: SleepsBefore): void {
    this.#sleepsBefore = which;
  }

  heal(): void {
    this.#way = 'up';
    this.#sleepsBefore = () => false;
    this.#woken.resolve();
    this.#woken = Promise.withResolvers();
  }

  async #request(asked: KubeRequest): Promise<unknown> {
    if (this.#way === 'up' && (await this.#sleepsBefore(asked))) this.#way = 'asleep';
    if (this.#way === 'cut') throw new UnreachableError('cut off');
    if (this.#way === 'up') return this.#to.request(asked);
    const { signal: _, ...request } = asked;
    await this.#woken.promise;
    return this.#to.request(request);
  }
}

interface Controller {
  readonly line: Line;
  readonly end: AbortController;
}

let stage: Stage;
let agents: HandMoved;
let running: Record<Kind, Controller>;
let lives = 0;
/** Who has led, one after the other. */
let leaders: Kind[];

beforeEach(async () => {
  stage = await Stage.withoutConditions(...NAMES);
  agents = new HandMoved(stage);
  leaders = [];
});
afterEach(async () => {
  for (const { end } of Object.values(running)) end.abort(new Error('over'));
  await stage.end();
});

function start(kind: Kind): Controller {
  const line = new Line(stage.transport);
  const end = new AbortController();
  const identity = `${kind}-${++lives}`;
  const { transport } = line;
  if (kind === 'ours') {
    const env = { MAX_CONCURRENT_UPDATE: String(CONCURRENCY), MAX_FAILED_UPDATE: '2' };
    stage.start({ transport, env, identity, signal: end.signal });
  } else {
    const random = seeded(lives);
    const older = new OlderController({ transport, clock: stage.clock, random, identity, concurrency: CONCURRENCY });
    void older.run(end.signal);
  }
  return { line, end };
}

async function leader(): Promise<Kind | undefined> {
  const holder = (await stage.leases.get(CONTROLLER_LEASE))?.spec?.holderIdentity ?? '';
  return (['older', 'ours'] as const).find((kind) => holder.startsWith(kind));
}

async function note(): Promise<void> {
  const now = await leader();
  if (now && now !== leaders.at(-1)) leaders.push(now);
}

const all = (): Promise<Seen[]> => Promise.all(NAMES.map((name) => agents.seen(name)));

/** Names of the nodes that are in an update, or bear marks. */
const underWay = async (): Promise<readonly string[]> => (await all()).filter(isUnderWay).map(({ name }) => name);

/** A second of everybody's life, in which each agent does one thing. Never are more nodes under way than may be, nor any without a permit. */
async function pass(): Promise<void> {
  await stage.pass();
  await note();
  for (const name of NAMES) await agents.move(name);
  const busy = await underWay();
  expect(busy.length).toBeLessThanOrEqual(CONCURRENCY);
  expect(await stage.permits()).toEqual(expect.arrayContaining(busy.map(shadowName)));
}

const isDone = async (): Promise<boolean> => (await all()).every((one) => isUpdated(one) && !isUnderWay(one));

const hold = (name: string, value: '' | null): Promise<void> =>
  stage.patchNode(name, { metadata: { annotations: { [HOLD_ANNOTATION]: value } } });

/** A node that is about to start is held at that moment, so that the next leader does not start it either. */
async function startsHeld(request: KubeRequest): Promise<boolean> {
  const { spec } = (request.body ?? {}) as { readonly spec?: Spec };
  if (!writesSpec(request) || spec?.state !== 'StagedAndPerformedUpdate') return false;
  await hold(nodeNameOf(request.path.split('/').at(-1) ?? '') ?? '', '');
  return true;
}

async function wakeUp(kind: Kind): Promise<void> {
  running[kind].line.heal();
  await pass();
  for (const { metadata } of await stage.nodes.list())
    if (metadata.annotations?.[HOLD_ANNOTATION] !== undefined) await hold(metadata.name, null);
}

/** What makes a leader one no more, and how it comes back. */
const WAYS: Readonly<Record<string, { readonly leave: (kind: Kind) => void; readonly back: (kind: Kind) => unknown }>> =
  {
    'is ended, and another of its release is started': {
      leave: (kind) => running[kind].end.abort(new Error('SIGTERM')),
      back: (kind) => (running[kind] = start(kind)),
    },
    'cannot reach the API server for a while': {
      leave: (kind) => running[kind].line.cut(),
      back: (kind) => running[kind].line.heal(),
    },
    'sleeps for a while as it takes a permit, and then goes on': {
      leave: (kind) => running[kind].line.sleepBefore(takesPermit),
      back: wakeUp,
    },
    'sleeps for a while as it starts a node, and then goes on': {
      leave: (kind) => running[kind].line.sleepBefore(startsHeld),
      back: wakeUp,
    },
  };

const cases = Object.keys(WAYS).flatMap((way) => (['older', 'ours'] as const).map((first) => [first, way] as const));

const other = (kind: Kind): Kind => (kind === 'ours' ? 'older' : 'ours');

/** Until then, or the rollout is done, for two minutes at most. */
async function passUntil(holds: () => Promise<boolean>): Promise<void> {
  for (let second = 0; second < 120 && !(await holds()) && !(await isDone()); second++) await pass();
}

async function passFor(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await pass();
}

test.each(cases)(
  'an older and the present controller, %s first, each of which in turn %s, end a rollout within its budget',
  async (first, way) => {
    const { leave, back } = WAYS[way]!;
    running = { [first]: start(first) } as typeof running;
    await pass();
    running[other(first)] = start(other(first));
    for (let turn = 0; !(await isDone()); turn++) {
      // Each time in another second of an update's life.
      await passFor(turn % 5);
      const kind = leaders.at(-1)!;
      leave(kind);
      await passUntil(async () => leaders.at(-1) === other(kind));
      await passFor(2 + (turn % 4));
      await back(kind);
      expect(turn).toBeLessThan(40);
    }
    await passFor(30);
    expect(await stage.permits()).toEqual([]);
    expect(leaders.length).toBeGreaterThan(4);
  },
);

/** By the ledgers of releases. */
async function failures(): Promise<readonly string[]> {
  const releases = await releasesOf(stage.transport).list();
  return releases.flatMap(({ spec, status }) =>
    Object.values(status?.failures ?? {}).map((one) => `${one?.node} on ${spec?.version}`),
  );
}

const preparing = async (): Promise<string | undefined> =>
  (await all()).find((one) => isUnderWay(one) && one.status.current_state === 'StagedAndPerformedUpdate')?.name;

test('what fails under an older one, which keeps no ledger, counts with what failed before, and halts the release', async () => {
  running = { ours: start('ours') } as typeof running;
  await pass();
  running.older = start('older');
  await agents.fail('a');
  await passFor(3);
  expect(await failures()).toEqual(['a on 1.1.0']);
  running.ours.line.cut();
  await passUntil(async () => leaders.at(-1) === 'older');
  await passUntil(async () => (await preparing()) !== undefined);
  const failed = (await preparing()) ?? '';
  await agents.fail(failed);
  await passFor(2);
  expect(await failures()).toEqual(['a on 1.1.0']);
  running.older.end.abort(new Error('SIGTERM'));
  running.ours.line.heal();
  // Before those that failed try again.
  await passFor(30);
  expect(leaders).toEqual(['ours', 'older', 'ours']);
  expect(await failures()).toEqual(['a on 1.1.0', `${failed} on 1.1.0`]);
  expect(await underWay()).toEqual([]);
  expect(await stage.events()).toContain('RolloutHalted');
});
