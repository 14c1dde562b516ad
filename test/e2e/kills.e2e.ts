import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Node } from '../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { COMPONENTS } from '../../runtime/api/shadow/names.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { eventually } from '../contract/eventually.ts';
import { killApiServer } from './cluster.ts';
import type { Fleet } from './fleet.ts';
import { guard, guardOf, relaxGuard } from './guard.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, podsOn, updating, verdict } from './looks.ts';
import { operatorPods } from './operator.ts';
import { type Scene, Stage } from './scene.ts';

let stage: Stage;
let scene: Scene;
let drained: string;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  scene = await stage.startFleet({ nodes: 4 });
});

afterAll(() => stage.strike(), 60_000);

/** Ends a component's processes, of every node or of one, as `kill -9` does. Their process ids. */
function kill({ pods }: Fleet, component: string, node?: string): readonly number[] {
  const pids = pods.pids(component, node);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids;
}

test('in the middle of a drain', async () => {
  const { fleet, until } = scene;
  drained = await until((history) => updating(history));
  // All of them: a node that can be drained would go in its place.
  for (const node of fleet.nodes.keys()) await guard(stage.cluster, node);
  await until((history) => verdict(history, drained)?.reason === 'DrainBlocked');
  // An eviction that dies with the process that asked for it keeps its budget for two minutes: not what is shown here.
  await until((history) => !podsOn(history, drained).some(({ metadata }) => metadata.labels?.['app'] === WORKLOAD));
  // The drain may have evicted one: while that ends beside the one in its place, there are more than are started again.
  await until(() => {
    const replicas = operatorPods(scene, COMPONENTS.apiserver);
    return replicas.length === 3 && replicas.every(({ metadata }) => !metadata.deletionTimestamp);
  });
  await eventually(() => expect(fleet.pods.pids(COMPONENTS.apiserver)).toHaveLength(3));
  for (const [component, node] of [
    [COMPONENTS.controller],
    [COMPONENTS.apiserver],
    [COMPONENTS.agent, drained],
  ] as const) {
    const killed = kill(fleet, component, node);
    expect(killed.length).toBeGreaterThan(0);
    await eventually(() => {
      const others = fleet.pods.pids(component, node).filter((pid) => !killed.includes(pid));
      expect(others).toHaveLength(killed.length);
    });
  }
  await killApiServer(stage.cluster);
  const [node, pod] = await Promise.all([live('node', drained), live('pod', guardOf(drained))]);
  expect(node.spec).toMatchObject({ unschedulable: true });
  expect(node.metadata.annotations).toHaveProperty([MARKS_ANNOTATION]);
  expect(pod.metadata.deletionTimestamp).toBeUndefined();
});

/** As the API server has it now. */
async function live(kind: string, name: string): Promise<Node> {
  const { stdout } = await kubectl('get', kind, name, '-n', WORKLOAD_NAMESPACE, '-o', 'json');
  return JSON.parse(stdout) as Node;
}

test('in the middle of a reboot', async () => {
  const { fleet } = scene;
  const killed: string[] = [];
  let restarted: Promise<void> | undefined;
  const onDown = (): void => {
    if (fleet.reboots.length === 1) note(COMPONENTS.apiserver);
    if (fleet.reboots.length !== 2) return;
    note(COMPONENTS.controller);
    restarted = killApiServer(stage.cluster).then(() => void killed.push('kube-apiserver'));
  };
  const note = (component: string, node?: string): void => {
    killed.push(...kill(fleet, component, node).map(() => component));
  };
  for (const [name, { host }] of fleet.nodes) {
    // The host goes down half a second after it has answered.
    const onAnswer = ({ path }: { path: string }): void => {
      if (path === '/actions/reboot') note(COMPONENTS.agent, name);
    };
    host.observe({ onAnswer, onDown });
  }
  for (const node of fleet.nodes.keys()) await relaxGuard(node);
  await scene.until((history) => atRest(history, scene.options.to).length === 4);
  await restarted;
  expect(new Set(killed)).toEqual(new Set([...Object.values(COMPONENTS), 'kube-apiserver']));
}, 240_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(scene)).toEqual([]);
});
