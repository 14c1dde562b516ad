import { afterEach, describe, expect, test } from '@jest/globals';
import type { Manager } from '../../runtime/controller/manager.ts';
import { crossedIn } from '../../runtime/api/shadow/crossed.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import {
  COMPONENT_LABEL,
  HOLD_ANNOTATION,
  NAME_LABEL,
  NAMESPACE,
  PAUSED_ANNOTATION,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { Checked, MINUTE, verdictOn } from './checked.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

/** Two drains that block each other, from the controller's side: the younger ends, and comes again once the older is over. */

let stage: Stage;
afterEach(() => stage.end());

const ENV = { MAX_CONCURRENT_UPDATE: '2', PROOF_NODES: '2' };
const BUDGETS = { a: 'shop/x', b: 'shop/y' } as const;
type Name = keyof typeof BUDGETS;
const other = (name: Name): Name => (name === 'a' ? 'b' : 'a');
const probe = (requested_at: string | null = null) => ({ boot_id: 'boot-1', version: '1.1.0', requested_at });

/** As the apiserver says it every half minute. */
async function sayBlocked(by: Readonly<Partial<Record<Name, readonly string[]>>>): Promise<void> {
  const reported_at = rfc3339(stage.clock.now());
  for (const [name, budgets] of Object.entries(by)) {
    const blocked_by = budgets.map((budget) => `PodDisruptionBudget ${budget} (pod shop/one)`);
    await stage.report(name, { drain: { started_at: '2026-01-01T00:00:30Z', pods_left: 1, blocked_by, reported_at } });
  }
}

async function passBlocked(ms: number, ...names: readonly Name[]): Promise<void> {
  for (let left = ms; left > 0; left -= 30_000) {
    await sayBlocked(Object.fromEntries(names.map((name) => [name, [BUDGETS[name]]])));
    await stage.pass(30_000);
  }
}

/** Up to where each of two nodes has evicted what the other waits for. */
async function upToCrossed(options: Parameters<Stage['start']>[0] = {}): Promise<Manager> {
  await stage.pass(30_000);
  const controller = stage.start({ env: ENV, ...options });
  await stage.pass(10_000);
  for (const name of ['a', 'b'])
    await stage.report(name, { current_state: 'StagedAndPerformedUpdate', reboot: probe() });
  await stage.pass();
  for (const name of ['a', 'b'] as const) {
    await stage.mark(name);
    const budgets = [{ name: BUDGETS[other(name)], pods: 1, left: [] }];
    await stage.report(name, { displaced: { owners: [], looked_at: null, missing: [], budgets } });
  }
  await passBlocked(30_000, 'a', 'b');
  return controller;
}

/** As an agent does that is told to come to rest. */
async function rest(name: string): Promise<void> {
  await stage.patchNode(name, {
    metadata: { annotations: { [MARKS_ANNOTATION]: null } },
    spec: { unschedulable: null },
  });
  await stage.report(name, { current_state: 'Idle', reboot: null });
  await stage.pass();
}

/** As a node does that is drained at last. */
async function finish(name: string): Promise<void> {
  await stage.patchNode(name, {
    metadata: { annotations: { [MARKS_ANNOTATION]: null } },
    spec: { unschedulable: null },
  });
  await stage.report(name, { displaced: null });
  await stage.update(name);
}

const saidOn = async (name: string) => crossedIn((await stage.shadows.get(shadowName(name)))?.metadata.annotations);

test('the younger is called off after five minutes, blames nobody, and starts once the older is done and a pause is over', async () => {
  stage = await Stage.with('a', 'b');
  const controller = await upToCrossed();
  expect(verdictOn(controller, 'a')).toMatchObject({ reason: 'BudgetsCrossed', until: expect.any(Number) });
  await passBlocked(4 * MINUTE, 'a', 'b');
  expect(await stage.spec('b')).toBe('RebootedIntoUpdate 1.1.0');
  await passBlocked(MINUTE, 'a', 'b');
  expect(await stage.specs('a', 'b')).toEqual(['RebootedIntoUpdate 1.1.0', 'Idle 1.1.0']);
  expect(await saidOn('b')).toMatchObject({ node: 'a', budgets: ['shop/y', 'shop/x'], times: 1 });
  const told = (await stage.told()).find(({ reason }) => reason === 'UpdateCalledOff');
  expect(told?.message).toMatch(
    /in the middle of its drain: its drain and that of a block each other .*shop\/y, shop\/x/,
  );
  await rest('b');
  expect(await stage.permits()).toEqual(['brs-a']);
  await stage.pass(20 * MINUTE);
  expect(verdictOn(controller, 'b')).toMatchObject({ reason: 'BudgetsCrossed' });
  expect(await stage.permits()).toEqual(['brs-a']);
  await finish('a');
  await stage.pass(10_000);
  expect(await stage.permits()).toEqual(['brs-b']);
  expect(await new Checked(stage).failed()).toEqual([]);
  await finish('b');
  expect([await saidOn('b'), await stage.permits()]).toEqual([undefined, []]);
});

describe('a controller that comes in the middle', () => {
  test('counts the five minutes anew, and no more', async () => {
    stage = await Stage.with('a', 'b');
    const first = new AbortController();
    await upToCrossed({ signal: first.signal });
    await passBlocked(4 * MINUTE, 'a', 'b');
    first.abort(new Error('killed'));
    stage.start({ env: ENV });
    await passBlocked(4 * MINUTE, 'a', 'b');
    expect(await stage.spec('b')).toBe('RebootedIntoUpdate 1.1.0');
    await passBlocked(2 * MINUTE, 'a', 'b');
    expect(await stage.spec('b')).toBe('Idle 1.1.0');
  });

  test('keeps the younger waiting for the older', async () => {
    stage = await Stage.with('a', 'b');
    const first = new AbortController();
    await upToCrossed({ signal: first.signal });
    await passBlocked(5 * MINUTE, 'a', 'b');
    await rest('b');
    first.abort(new Error('killed'));
    stage.start({ env: ENV });
    await passBlocked(10 * MINUTE, 'a');
    expect(await stage.permits()).toEqual(['brs-a']);
  });
});

describe('nothing is called off where', () => {
  test.each<[string, () => Promise<unknown>]>([
    [
      'the agent has asked for its reboot since',
      () => stage.report('b', { reboot: probe(rfc3339(stage.clock.now())) }),
    ],
    [
      'a person holds the node since',
      () => stage.patchNode('b', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } }),
    ],
    ['the drain is over since', () => stage.mark('b', { drained: true })],
    ['a budget spares what it waited for since', () => sayBlocked({ b: [] })],
  ])('%s, as the last look shows', async (_, happens) => {
    stage = await Stage.with('a', 'b');
    let isDue = false;
    const transport = intercepted(stage.transport, async ({ method, path }, go) => {
      if (isDue && method === 'GET' && path === '/api/v1/nodes/b') {
        isDue = false;
        await happens();
      }
      return go();
    });
    await upToCrossed({ transport });
    await passBlocked(4 * MINUTE, 'a', 'b');
    isDue = true;
    await passBlocked(30_000, 'a', 'b');
    expect([isDue, await stage.spec('b')]).toEqual([false, 'RebootedIntoUpdate 1.1.0']);
  });

  test('a replica is of the older operator, which drains whatever it is told', async () => {
    stage = await Stage.with('a', 'b');
    const replica = (name: string, labels: object) =>
      stage.create(`/api/v1/namespaces/${NAMESPACE}/pods`, {
        metadata: { name, labels: { [COMPONENT_LABEL]: 'apiserver', ...labels } },
        spec: { containers: [{ name: 'apiserver', image: 'apiserver' }] },
      });
    await replica('ours', { [NAME_LABEL]: 'brupop' });
    await replica('theirs', {});
    await upToCrossed();
    await passBlocked(7 * MINUTE, 'a', 'b');
    expect(await stage.spec('b')).toBe('RebootedIntoUpdate 1.1.0');
  });

  test('the older is done meanwhile', async () => {
    stage = await Stage.with('a', 'b');
    await upToCrossed();
    await passBlocked(3 * MINUTE, 'a', 'b');
    await finish('a');
    await passBlocked(10 * MINUTE, 'b');
    expect(await stage.spec('b')).toBe('RebootedIntoUpdate 1.1.0');
  });
});

test('a pause does not keep the younger from coming back into service, and keeps it there', async () => {
  stage = await Stage.with('a', 'b');
  await upToCrossed();
  const annotations = { [PAUSED_ANNOTATION]: 'people' };
  await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations } });
  await passBlocked(6 * MINUTE, 'a', 'b');
  expect(await stage.spec('b')).toBe('Idle 1.1.0');
  await rest('b');
  await finish('a');
  await stage.pass(10 * MINUTE);
  expect(await stage.permits()).toEqual([]);
});
