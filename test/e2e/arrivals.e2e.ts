import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { ARRIVING_KEY } from '../../runtime/api/marks/taints.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, podsOn, versionOf } from './looks.ts';
import { Stage } from './scene.ts';

const SPARES = ['node-5', 'node-6'];

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
}, 90_000);

afterAll(() => stage.strike(), 60_000);

const isArriving = ({ nodes }: History, name: string): boolean =>
  nodes.get(name)?.spec?.taints?.some(({ key }) => key === ARRIVING_KEY) === true;
const isOld = ({ nodes }: History, name: string): boolean => versionOf(nodes.get(name)) !== '1.39.0';
const hasWork = (history: History, name: string): boolean =>
  podsOn(history, name).some(({ metadata }) => metadata.namespace === WORKLOAD_NAMESPACE);

test('old images that join in a rollout with the taint are updated before a pod of the workload comes', async () => {
  const scene = await stage.startFleet({ nodes: 6, spares: SPARES.length });
  await scene.until((history) => atRest(history, '1.39.0').length > 0);
  for (const name of SPARES) {
    scene.fleet.powerOn(name);
    await scene.until(({ nodes }) => nodes.has(name));
    await kubectl('taint', 'node', name, `${ARRIVING_KEY}=true:NoSchedule`);
  }
  const early = new Set<string>();
  await scene.until((history) => {
    for (const name of SPARES) if (isOld(history, name) && hasWork(history, name)) early.add(name);
    return SPARES.every((name) => !isOld(history, name) && !isArriving(history, name));
  });
  expect([...early]).toEqual([]);
  await scene.rolledOver();
  // One in the turn of the fleet, and both that have joined.
  expect(await invariants(scene, { concurrency: 1 + SPARES.length })).toEqual([]);
});
