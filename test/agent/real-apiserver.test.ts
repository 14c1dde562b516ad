import { expect, test } from '@jest/globals';
import type { ShadowObject } from '../../runtime/kube/objects.ts';
import { nextState, type State } from '../../runtime/shadow/states.ts';
import { SHADOWS, World } from '../apiserver/world.ts';
import { join } from './joined.ts';

const shadowOf = async (world: World): Promise<ShadowObject> => (await world.get(`${SHADOWS}/brs-n1`)) as ShadowObject;

/** Controller and kubelet of the node `n1`, up to the monitoring; returns the states that were reached. */
async function rollOut(world: World): Promise<State[]> {
  const states: State[] = [];
  for (let second = 0; second < 600 && states.at(-1) !== 'MonitoringUpdate'; second++) {
    await world.clock.advance(1000);
    for (const pod of await world.pods()) if (pod.metadata.deletionTimestamp) await world.endPod(pod.metadata.name);
    const { spec, status } = await shadowOf(world);
    if (!status || status.current_state !== spec.state) continue;
    if (spec.state !== 'Idle') states.push(spec.state);
    if (spec.state === 'Idle' && status.target_version !== '1.39.0') continue;
    await world.setSpec('n1', { state: nextState(spec.state), version: '1.39.0' });
  }
  return states;
}

/** Nothing is offered, or was begun. */
async function atRest(): Promise<World> {
  const world = await World.create();
  await world.setSpec('n1', { state: 'Idle', version: null });
  await world.setStatus('n1', { current_state: 'Idle' });
  return world;
}

test('an agent and the real apiserver take a node of the embedded cluster through its update', async () => {
  const world = await atRest();
  await world.addPod('web-1');
  const { host, end } = join(world, ['1.39.0']);
  expect(await rollOut(world)).toEqual(['StagedAndPerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate']);
  await world.clock.advance(5000);
  const { status } = await shadowOf(world);
  expect(status).toMatchObject({ current_state: 'Idle', current_version: '1.39.0', crash_count: 0 });
  expect(status?.reboot ?? null).toBeNull();
  expect(await world.pods()).toEqual([]);
  const node = await world.node();
  expect(node.spec?.unschedulable ?? false).toBe(false);
  expect(node.metadata.labels ?? {}).toEqual({});
  expect(host.requests.get('POST /actions/prepare-update')).toBe(1);
  end();
});

test('a step that begins anew on a drained node does not wait for load balancers again', async () => {
  const world = await atRest();
  await world.addPod('web-1');
  const { host, end } = join(world, ['1.39.0']);
  const BUSY_MS = 150_000;
  let busyUntil: number | undefined;
  host.observe({
    onCall: ({ path }) => {
      // The node is drained by now.
      if (path !== '/actions/activate-update' || busyUntil !== undefined) return;
      busyUntil = world.clock.monotonic() + BUSY_MS;
      host.inject('busy', { forMs: BUSY_MS });
    },
  });
  let rebootedAt = Infinity;
  host.observe({ onDown: () => (rebootedAt = Math.min(rebootedAt, world.clock.monotonic())) });
  await rollOut(world);
  expect(rebootedAt).toBeGreaterThan(busyUntil!);
  expect(rebootedAt).toBeLessThan(busyUntil! + 25_000);
  end();
});

test('a node at rest costs the cluster less than five requests an hour, and its host less than 130', async () => {
  const world = await atRest();
  const { host, end } = join(world, []);
  await world.clock.advance(300_000);
  const calls = (): number => [...host.requests.values()].reduce((sum, count) => sum + count, 0);
  const [asked, called] = [world.cluster.audit.length, calls()];
  await world.clock.advance(10 * 3600_000);
  // The agent's own, and the apiserver's on its behalf: nobody else is there.
  const requests = world.cluster.audit.slice(asked).map(({ verb, resource }) => `${verb} ${resource}`);
  expect(requests.length / 10).toBeLessThan(5);
  expect(requests.filter((request) => !request.startsWith('watch '))).toEqual([]);
  expect((calls() - called) / 10).toBeLessThan(130);
  end();
});
