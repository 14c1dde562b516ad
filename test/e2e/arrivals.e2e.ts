import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { registration } from '../../lab/sim/kubernetes/kubelet/node-status.ts';
import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { ARRIVING_KEY } from '../../runtime/api/marks/taints.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../../runtime/api/shadow/names.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { policyNamed } from '../policies.ts';
import { comesTrue } from './come-true.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { untilBare } from './left.ts';
import { atRest, podsOn, verdict, versionOf } from './looks.ts';
import { Plugin, type Verdicts } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { leftOnNodes, takeAway } from './taking-away.ts';
import { toldOf } from './told.ts';
import { haltOf, holdOf, pause } from './undoing.ts';

const SPARES = ['node-5', 'node-6'] as const;
const LATE = 'node-7';

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator();
}, 90_000);

afterAll(() => stage.strike(), 60_000);

const isArriving = ({ nodes }: History, name: string): boolean =>
  nodes.get(name)?.spec?.taints?.some(({ key }) => key === ARRIVING_KEY) === true;
const isOld = ({ nodes }: History, name: string): boolean => versionOf(nodes.get(name)) !== '1.39.0';
const hasWork = (history: History, name: string): boolean =>
  podsOn(history, name).some(({ metadata }) => metadata.namespace === WORKLOAD_NAMESPACE);

/** The Node is there with the taint when its kubelet comes, as where user data says so. */
async function joins(name: string): Promise<void> {
  const body = registration(name, { [MANAGED_LABEL]: MANAGED_LABEL_VALUE });
  const taints = [{ key: ARRIVING_KEY, value: 'true', effect: 'NoSchedule' }];
  await stage.cluster.transport.request({ method: 'POST', path: NODES_PATH, body: { ...body, spec: { taints } } });
  scene.fleet.powerOn(name);
}

const tainted = (name: string): Promise<unknown> => kubectl('taint', 'node', name, `${ARRIVING_KEY}=true:NoSchedule`);

const says = 'arriving: no pod comes yet';
const keepsPodsAway = (name: string): Promise<unknown> =>
  comesTrue(async () => (await plugin.run('why', name)).out.includes(says));

/** Wherever people look while it keeps pods away: for half a minute it is new, and starts nothing. */
async function saidOf(name: string): Promise<void> {
  await keepsPodsAway(name);
  const { nodes } = await plugin.page();
  expect(nodes.find((one) => one.name === name)?.meanwhile).toContain(says);
  const planned = await plugin.json<Verdicts>(['plan']);
  expect(planned.nodes).toContainEqual(expect.objectContaining({ node: name, isArriving: true }));
  await toldOf({ kind: 'Node', name }, 'Arriving', 'no pod comes before it is updated');
}

/** The taint is given to it, and taken away. @param undo what ends its arrival, where nothing does yet */
async function isLetGo(name: string, undo?: () => Promise<unknown>): Promise<void> {
  const came = scene.until((history) => isArriving(history, name));
  await tainted(name);
  await came;
  await undo?.();
  await scene.until((history) => !isArriving(history, name));
}

test('old images that join in a rollout with the taint are updated before a pod of the workload comes', async () => {
  scene = await stage.startFleet({ nodes: 7, spares: SPARES.length + 1 });
  await scene.until((history) => atRest(history, '1.39.0').length > 0);
  for (const name of SPARES) await joins(name);
  const early = new Set<string>();
  const arrived = scene.until((history) => {
    for (const name of SPARES) if (isOld(history, name) && hasWork(history, name)) early.add(name);
    return SPARES.every((name) => !isOld(history, name) && !isArriving(history, name));
  });
  await saidOf(SPARES[0]);
  await arrived;
  expect([...early]).toEqual([]);
});

test('a hold, a pause and a halt each let pods come to a machine that has joined', async () => {
  const [hold, halt] = [holdOf(LATE), haltOf('1.39.0')];
  scene.fleet.powerOn(LATE);
  await scene.until(({ nodes }) => nodes.has(LATE));
  await hold.say();
  await isLetGo(LATE);
  await pause.say();
  await hold.takeBack();
  await isLetGo(LATE);
  await untilBare(scene);
  await halt.say();
  await pause.takeBack();
  await isLetGo(LATE);
  await untilBare(scene);
  expect(isOld(scene.history, LATE)).toBe(true);
  // One in the turn of the fleet, and both that have joined.
  expect(await invariants(scene, { concurrency: 1 + SPARES.length })).toEqual([]);
});

test('the end of the policy that was to update it lets pods come too: the next one waits', async () => {
  const rules = { nodeSelector: {} };
  await apply(policyNamed('next', { ...rules, paused: true }));
  await haltOf('1.39.0').takeBack();
  await isLetGo(LATE);
  await apply(policyNamed('all', { ...rules, priority: 10 }));
  // Half a minute passes before one that it rules starts. Meanwhile its condition says that it is not its turn.
  await scene.until((history) => verdict(history, LATE)?.reason === 'WaitingForSlot');
  await isLetGo(LATE, async () => {
    await keepsPodsAway(LATE);
    await kubectl('delete', 'bup', 'all');
  });
  await untilBare(scene);
  expect(isOld(scene.history, LATE)).toBe(true);
});

test('who takes the operator away as documented in the middle of a rollout finds nothing of it on any node', async () => {
  // Nobody is there any more who would let pods come to what joins now.
  await takeAway(stage.cluster, () => tainted(LATE));
  expect(scene.history.nodes.size).toBe(7);
  expect(await leftOnNodes()).toEqual([]);
}, 240_000);
