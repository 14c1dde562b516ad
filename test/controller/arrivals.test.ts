import { afterEach, expect, test } from '@jest/globals';
import { ARRIVING_KEY } from '../../runtime/api/marks/taints.ts';
import { NAMESPACE, PAUSED_ANNOTATION, shadowName } from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

/** Machines that join with the taint `arriving`, on a cluster. */

let stage: Stage;
afterEach(() => stage.end());

const env = { PROOF_NODES: '1' };
const GPU = { key: 'example.com/gpu', effect: 'NoSchedule' };
const NEW = Array.from({ length: 10 }, (_, at) => `x${at}`);

async function arriving(): Promise<readonly string[]> {
  const nodes = await stage.nodes.list();
  return nodes
    .filter(({ spec }) => spec?.taints?.some(({ key }) => key === ARRIVING_KEY))
    .map(({ metadata }) => metadata.name);
}

async function join(name: string, effect = 'NoSchedule'): Promise<void> {
  await stage.join(name);
  await stage.patchNode(name, { spec: { taints: [GPU, { key: ARRIVING_KEY, value: 'true', effect }] } });
}

/** Its host has not written the version. */
async function fail(name: string): Promise<void> {
  const failedAt = rfc3339(stage.clock.now());
  await stage.report(name, {
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: failedAt,
  });
  await stage.pass();
  expect(await stage.spec(name)).toBe('Idle 1.1.0');
  await stage.report(name, { current_state: 'Idle' });
}

/** `a` has proven the release, and `b` is on its way to it. */
async function proven(signal?: AbortSignal): Promise<void> {
  stage = await Stage.with('a', 'b');
  await stage.pass(30_000);
  stage.start({ env, ...(signal && { signal }) });
  await stage.pass(10_000);
  await stage.update('a');
  await stage.pass(10_000);
  expect(await stage.permits()).toEqual([shadowName('b')]);
}

test('ten old images that join in a rollout are all updated before a pod can come, and the rollout goes on beside them', async () => {
  await proven();
  for (const name of NEW) await join(name);
  await stage.pass(40_000);
  expect((await stage.permits()).toSorted()).toEqual(['b', ...NEW].map(shadowName).toSorted());
  expect((await stage.events()).filter((reason) => reason === 'Arriving')).toHaveLength(10);
  const early: string[] = [];
  for (const name of NEW) {
    await stage.update(name);
    for (const other of NEW) {
      const { status } = (await stage.shadows.get(shadowName(other)))!;
      if (status?.current_version !== '1.1.0' && !(await arriving()).includes(other)) early.push(other);
    }
  }
  expect(early).toEqual([]);
  await stage.pass(15_000);
  expect(await arriving()).toEqual([]);
  expect((await stage.nodes.get('x0'))?.spec?.taints).toEqual([GPU]);
  expect(await stage.permits()).toEqual([shadowName('b')]);
});

test('no pause between updates follows on a machine that has only joined, whether its update is finished or fails', async () => {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, { all: { nodeSelector: {}, proof: { nodes: 1 }, pauseBetween: '1h' } });
  await stage.pass(30_000);
  const controller = stage.start({ env });
  await stage.pass(10_000);
  await stage.update('a');
  await stage.pass(50 * 60_000);
  await join('x0');
  await join('x1');
  await stage.pass(40_000);
  await stage.update('x0');
  await fail('x1');
  await stage.pass(60_000);
  const until = controller.preview().verdicts.find(({ node }) => node === 'b')?.until ?? 0;
  expect(until - stage.clock.now()).toBeLessThan(10 * 60_000);
  await stage.pass(10 * 60_000);
  expect(await stage.permits()).toEqual([shadowName('b')]);
});

test('a pause takes the taint away within seconds, and one with nothing on offer loses it too', async () => {
  await proven();
  await join('x0');
  await join('x1');
  await stage.report('x1', { target_version: '1.0.0' });
  await stage.pass(15_000);
  expect(await arriving()).toEqual(['x0']);
  await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: '' } } });
  await stage.pass(5000);
  expect(await arriving()).toEqual([]);
});

test('a taint with which pods may come spares nobody a budget, and goes all the same', async () => {
  await proven();
  await join('x0', 'PreferNoSchedule');
  await stage.pass(60_000);
  expect(await stage.permits()).toEqual([shadowName('b')]);
  expect(await stage.events()).not.toContain('Arriving');
  await stage.pass(10 * 60_000);
  expect(await arriving()).toEqual([]);
});

test('the next controller takes it away from a node whose ten minutes were over while nobody led, though its own key is another', async () => {
  const first = new AbortController();
  await proven(first.signal);
  await join('x0');
  await stage.pass(1000);
  first.abort(new Error('killed'));
  await stage.pass(700_000);
  expect(await arriving()).toEqual(['x0']);
  const next = stage.start({ env: { ...env, ARRIVING_TAINT: 'example.com/joining' } });
  await stage.pass(60_000);
  expect(await arriving()).toEqual([]);
  expect(await next.metrics.registry.metrics()).toContain('brupop_controller_overdue_arrivals 0');
});
