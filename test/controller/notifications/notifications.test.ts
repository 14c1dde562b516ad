import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { notificationsOf } from '../../../runtime/controller/telling/notifications/notifications.ts';
import type { delivered } from '../../../runtime/controller/telling/notifications/delivery.ts';
import type { DeliveryOutcome } from '../../../runtime/controller/telling/notifications/outcome.ts';
import type { NotifierFactory } from '../../../runtime/controller/telling/notifier.ts';
import { configMapsPath } from '../../../runtime/kube/resources.ts';
import { aborted } from '../../../runtime/lib/abort.ts';
import { apiStatusError } from '../../../runtime/kube/errors.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { NOTIFICATIONS_STATE } from '../../../runtime/api/notifications/names.ts';
import { NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { folder } from '../../folder.ts';
import { until } from '../../in-time.ts';
import { Tapped } from '../../kube/world.ts';
import { definePolicies } from '../../policies.ts';
import { Stage } from '../stage.ts';

let stage: Stage;
let dir: string;
/** What targets have taken, each as `target kind`, and with which id. */
let told: string[];
let ids: string[];
let outcome: (target: string) => DeliveryOutcome;

const format = 'slack';
const OK: DeliveryOutcome = { kind: 'accepted', status: 200 };
const DOWN: DeliveryOutcome = { kind: 'later', why: 'it answers 500', afterMs: 0 };

beforeEach(async () => {
  [told, ids, outcome] = [[], [], () => OK];
  dir = folder;
  await configure({ name: 'a', format });
});
afterEach(() => stage.end());

function configure(...targets: readonly object[]): Promise<void> {
  const config = { cluster: 'c', targets };
  return writeFile(join(dir, 'config.json'), JSON.stringify(config));
}

const send: typeof delivered = (fact, { target }) => {
  const result = outcome(target.name);
  if (result.kind === 'accepted') {
    told.push(`${target.name} ${fact.kind}`);
    ids.push(fact.id);
  }
  return Promise.resolve(result);
};

interface Running {
  readonly metrics: () => Promise<string>;
  /** As by kill -9. */
  readonly kill: () => Promise<void>;
}

/** A controller that tells, once it has asked for what was told before. */
async function controller(
  more: Readonly<Record<string, string>> = {},
  isRefused = (): boolean => false,
): Promise<Running> {
  const end = new AbortController();
  const wire = new Tapped(stage.transport);
  const state = { asked: 0 };
  wire.before = ({ path }): void => {
    if (!path.includes('/configmaps')) return;
    state.asked += 1;
    if (isRefused()) throw apiStatusError(`GET ${path}`, { code: 403 });
  };
  const env = { PROOF_NODES: '1', NOTIFICATIONS_DIR: dir, ...more };
  const notifierOf: NotifierFactory = (parts) => notificationsOf(parts, send);
  const manager = stage.start({ env, notifierOf, signal: end.signal, transport: wire });
  // Where another had the Lease, that takes until it is anybody's; files take real time.
  for (let rounds = 0; rounds < 100 && state.asked === 0; rounds++)
    await Promise.all([stage.pass(1000), setImmediate()]);
  await until('the memory is asked for', () => state.asked > 0);
  await stage.pass(3000);
  const kill = async (): Promise<void> => {
    wire.kill();
    end.abort();
    await stage.pass(1000);
  };
  return { kill, metrics: () => manager.metrics.registry.metrics() };
}

async function fails(node: string): Promise<void> {
  await stage.report(node, {
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: rfc3339(stage.clock.now()),
    failed_versions: ['1.1.0'],
    last_failure: {
      state: 'StagedAndPerformedUpdate',
      reason: 'PrepareFailed',
      message: 'bad image',
      version: '1.1.0',
      time: rfc3339(stage.clock.now()),
    },
  });
  await stage.pass(1000);
  await stage.report(node, { current_state: 'Idle' });
  await stage.pass(3000);
}

test('a rollout tells that it begins and that it is over, once, also over a controller that is killed in its middle', async () => {
  stage = await Stage.with('a', 'b');
  const { kill } = await controller();
  expect(told).toEqual(['a RolloutStarted']);
  await stage.update('a');
  await kill();
  await controller();
  expect(told).toEqual(['a RolloutStarted']);
  await stage.update('b');
  await stage.pass(5000);
  expect(told).toEqual(['a RolloutStarted', 'a RolloutComplete']);
});

test('of a policy its own rollout is told, and by its name: once, also to the next controller and where a node joins late', async () => {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, { all: { nodeSelector: {}, maxFailed: 1 } });
  await stage.pass(30_000);
  await configure({ name: 'all', format, policies: ['all'] }, { name: 'other', format, policies: ['other'] });
  const { kill } = await controller();
  await stage.pass(10_000);
  await fails('a');
  expect(told).toEqual(['all RolloutStarted', 'all UpdateFailed', 'all RolloutHalted']);
  await stage.pass(3_600_000);
  await stage.update('a');
  await stage.pass(10_000);
  await stage.update('b');
  await stage.pass(10_000);
  const whole = ['all RolloutResumed', 'all RolloutComplete'];
  expect(told.slice(3)).toEqual(whole);
  await kill();
  await controller();
  await stage.join('c');
  await stage.pass(40_000);
  await stage.update('c');
  await stage.pass(10_000);
  expect(told.slice(3)).toEqual(whole);
});

test('a bad release tells what failed before it tells that it is halted, and that again is over when it is', async () => {
  stage = await Stage.with('a', 'b', 'c');
  const env = { MAX_FAILED_UPDATE: '1' };
  const { kill } = await controller(env);
  const bad = ['a RolloutStarted', 'a UpdateFailed', 'a RolloutHalted'];
  await fails('a');
  expect(told).toEqual(bad);
  await kill();
  await controller(env);
  expect(told).toEqual(bad);
  // The pause after the failure.
  await stage.pass(3_600_000);
  await stage.update('a');
  await stage.pass(3000);
  expect(told.slice(3)).toEqual(['a RolloutResumed']);
});

test('a message that was not delivered before its controller died is sent by the next one, with the same id, and no other', async () => {
  await configure({ name: 'a', format }, { name: 'dead', format });
  outcome = (target) => (target === 'dead' ? DOWN : OK);
  stage = await Stage.with('a', 'b');
  const { kill, metrics } = await controller();
  await fails('a');
  const failing = 'brupop_controller_notifications_failing{target="dead"} 1';
  expect(await metrics()).toMatch(failing);
  expect(told).toEqual(['a RolloutStarted', 'a UpdateFailed']);
  await kill();
  // Nobody is to be called because of what a process once saw that leads no more.
  expect(await metrics()).not.toMatch(failing);
  outcome = () => OK;
  await controller();
  await stage.pass(1000);
  expect(told.slice(2)).toEqual(['dead RolloutStarted', 'dead UpdateFailed']);
  expect(ids.slice(2)).toEqual(ids.slice(0, 2));
});

test('what stands when notifications are switched on is no news, and only what a target asks for is told', async () => {
  stage = await Stage.with('a', 'b');
  const before = new AbortController();
  stage.start({ env: { PROOF_NODES: '1' }, signal: before.signal });
  await stage.pass(3000);
  await fails('a');
  before.abort();
  await configure(
    { name: 'all', format },
    { name: 'ends', format, kinds: ['RolloutComplete'] },
    { name: 'else', format, policies: ['production'] },
  );
  await stage.pass(60_000);
  await controller();
  await stage.update('b');
  await stage.pass(3_600_000);
  await stage.update('a');
  await stage.pass(3000);
  expect(told).toEqual(['all RolloutStarted', 'all RolloutComplete', 'ends RolloutComplete']);
});

describe('nobody waits for notifications', () => {
  test('while the memory cannot be read nothing is told and updates go on, and then it is told', async () => {
    stage = await Stage.with('a');
    const { kill } = await controller();
    await kill();
    let isRefused = true;
    await controller({}, () => isRefused);
    await stage.update('a');
    expect([await stage.spec('a'), told]).toEqual(['Idle', ['a RolloutStarted']]);
    isRefused = false;
    await stage.pass(600_000);
    expect(told).toEqual(['a RolloutStarted', 'a RolloutComplete']);
  });

  test('a configuration that cannot be used is said, and what was so before it could is told', async () => {
    stage = await Stage.with('a');
    await configure({ name: 'a', format, template: '{{x}}' });
    await controller();
    expect([await stage.spec('a'), told]).toEqual(['StagedAndPerformedUpdate 1.1.0', []]);
    await configure({ name: 'a', format });
    for (let rounds = 0; rounds < 1000 && told.length === 0; rounds++) {
      await stage.pass(10_000);
      // Files take real time.
      await setImmediate();
    }
    expect(told).toEqual(['a RolloutStarted']);
  });
});

test('a controller that is told to end waits for no target, and leaves nothing that the next tells again', async () => {
  await configure({ name: 'a', format }, { name: 'hung', format });
  stage = await Stage.with('a', 'b');
  const end = new AbortController();
  const hanging: typeof delivered = async (fact, address, { signal, ...context }) => {
    if (address.target.name === 'hung') await aborted(signal).catch(() => undefined);
    return signal.aborted ? DOWN : send(fact, address, { signal, ...context });
  };
  const notifierOf: NotifierFactory = (parts) => notificationsOf(parts, hanging);
  stage.start({ env: { PROOF_NODES: '1', NOTIFICATIONS_DIR: dir }, notifierOf, signal: end.signal });
  for (let rounds = 0; rounds < 1000 && told.length === 0; rounds++)
    await Promise.all([stage.pass(10), setImmediate()]);
  end.abort();
  await stage.pass(0);
  // The Lease is free, so the next leads at once.
  await controller();
  expect(told).toEqual(['a RolloutStarted', 'hung RolloutStarted']);
});

test('a memory that somebody deletes is made again at once, also while there is nothing new', async () => {
  stage = await Stage.with('a', 'b');
  await controller();
  const path = `${configMapsPath(NAMESPACE)}/${NOTIFICATIONS_STATE}`;
  await stage.delete(path);
  await stage.pass(5000);
  expect(JSON.stringify(await stage.get(path))).toMatch('1.1.0');
  await stage.update('a');
  await stage.update('b');
  await stage.pass(600_000);
  expect(told).toEqual(['a RolloutStarted', 'a RolloutComplete']);
});
