import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isReady, type Node, type Pod } from '../../runtime/kube/objects.ts';
import { COMPONENTS, CONTROLLER_DEPLOYMENT, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { applyAll } from '../sim/world/manifests.ts';
import { WORKLOAD_NAMESPACE } from '../sim/world/workload.ts';
import { auditOf } from '../../test/e2e/audit.ts';
import { guard, guardOf, relaxGuard } from '../../test/e2e/guard.ts';
import { invariants } from '../../test/e2e/invariants.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { atRest, isCordoned, isMarked, podsOn, shadowOf, updating, verdict } from '../../test/e2e/looks.ts';
import { operatorPods } from '../../test/e2e/operator.ts';
import { containersOf } from './containers.ts';
import { importImages, operatorImage, removeImage } from './images.ts';
import { PAUSE_IMAGE } from './parts/images.ts';
import { ClusterStage } from './stage.ts';
import { nodeTools } from './tools.ts';

/** The node whose containerd has not got the operator's image. */
const WITHOUT_IMAGE = 'node-4';

let stage: ClusterStage;
/** Nodes whose turn is over, or does not count, in order. */
const past: string[] = [];

beforeAll(async () => {
  stage = await ClusterStage.set({ nodes: 4 });
  await applyAll(stage.cluster.transport, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: WORKLOAD_NAMESPACE } },
  ]);
  // Every drain lasts until its scenario lets it go on.
  for (const node of stage.fleet.nodes.keys()) await guard(stage.cluster, node, PAUSE_IMAGE);
  await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '-n', WORKLOAD_NAMESPACE, '--timeout=60s');
}, 400_000);

afterAll(() => stage.strike(), 60_000);

/** The node that updates next, by the time that its drain is blocked. */
async function next(): Promise<string> {
  const node = await stage.until((history) => updating(history, past));
  await stage.until((history) => verdict(history, node)?.reason === 'DrainBlocked');
  past.push(node);
  return node;
}

function agentOn(node: string): Pod | undefined {
  return operatorPods(stage, COMPONENTS.agent).find(({ spec }) => spec?.nodeName === node);
}

function isReadyNode(node: Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

test('an agent whose image cannot be pulled keeps its node as it is, and no other', async () => {
  const { ctr } = await nodeTools({ env: process.env, progress: () => undefined });
  const { name } = await operatorImage(stage.cluster.dir);
  const node = stage.fleet.nodes.get(WITHOUT_IMAGE)!;
  await removeImage(node, name, ctr);
  await stage.installOperator();
  await stage.until(() => agentOn(WITHOUT_IMAGE));
  // From now on nothing but what is there: without a controller nobody would update any node.
  await kubectl('taint', 'node', WITHOUT_IMAGE, 'example.com/no-image=:NoSchedule');
  const others = operatorPods(stage).filter(
    (pod) => pod.spec?.nodeName === WITHOUT_IMAGE && pod !== agentOn(WITHOUT_IMAGE),
  );
  for (const { metadata } of others) await kubectl('delete', 'pod', '-n', NAMESPACE, metadata.name);
  await stage.until(
    () => containersOf(agentOn(WITHOUT_IMAGE) ?? ({} as Pod))[0]?.state?.waiting?.reason === 'ImagePullBackOff',
  );
  await stage.until((history) => updating(history));
  expect(shadowOf(stage.history, WITHOUT_IMAGE)).toBeUndefined();
}, 200_000);

test('each part can be deleted in the middle of a drain: it is taken up by the next', async () => {
  const node = await next();
  const before = operatorPods(stage).filter(({ metadata }) => metadata.uid !== agentOn(WITHOUT_IMAGE)?.metadata.uid);
  const names = before.map(({ metadata }) => metadata.name);
  await kubectl('delete', 'pod', '-n', NAMESPACE, ...names);
  await stage.until(() => {
    const now = operatorPods(stage).filter(isReady);
    return now.length === before.length && now.every(({ metadata }) => !names.includes(metadata.name));
  });
  expect([isCordoned(stage.history, node), isMarked(stage.history, node)]).toEqual([true, true]);
  expect(podsOn(stage.history, node).map(({ metadata }) => metadata.name)).toContain(guardOf(node));
  await relaxGuard(node);
  await stage.until((history) => atRest(history, stage.options.to).includes(node));
  const askers = await evictorsOf(guardOf(node));
  expect(askers.filter((name) => names.includes(name))).not.toEqual([]);
  expect(askers.filter((name) => !names.includes(name))).not.toEqual([]);
}, 300_000);

/** Pods that wanted to evict this one. */
async function evictorsOf(pod: string): Promise<readonly string[]> {
  return (await auditOf(stage.cluster))
    .filter(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.name === pod)
    .flatMap(({ user }) => user?.extra?.['authentication.kubernetes.io/pod-name'] ?? []);
}

test('a node whose kubelet stops in its drain is not rebooted before its pods have ended', async () => {
  const node = await next();
  const kubelets = await stage.fleet.nodes.get(node)!.pids('kubelet');
  expect(kubelets).toHaveLength(1);
  for (const pid of kubelets) process.kill(pid, 'SIGSTOP');
  await relaxGuard(node);
  await stage.until(({ pods }) => pods.get(`${WORKLOAD_NAMESPACE}/${guardOf(node)}`)?.metadata.deletionTimestamp);
  await stage.until(({ nodes }) => !isReadyNode(nodes.get(node)));
  expect(stage.fleet.reboots.filter((reboot) => reboot.node === node)).toEqual([]);
  for (const pid of kubelets) process.kill(pid, 'SIGCONT');
  await stage.until((history) => atRest(history, stage.options.to).includes(node));
}, 300_000);

/** For want of a permit, or because the lost node counts against the release. */
const HELD_BACK: ReadonlySet<string> = new Set(['WaitingForSlot', 'RolloutHalted']);

test('a node that never returns keeps its permit and says so, until its Node is deleted', async () => {
  const node = await next();
  await kubectl('set', 'env', '-n', NAMESPACE, `deployment/${CONTROLLER_DEPLOYMENT}`, 'NODE_RETURN_TIMEOUT_IN_SEC=30');
  stage.fleet.hosts.get(node)?.host.inject('no-return');
  await relaxGuard(node);
  await stage.until((history) => verdict(history, node)?.reason === 'NotReturned');
  // One that could update, and wants to: its agent finds its image at last.
  const { ctr } = await nodeTools({ env: process.env, progress: () => undefined });
  const operator = await operatorImage(stage.cluster.dir);
  await importImages(stage.fleet.nodes.get(WITHOUT_IMAGE)!, { archives: [], operator, ctr });
  await stage.until((history) => HELD_BACK.has(verdict(history, WITHOUT_IMAGE)?.reason ?? ''));
  expect(updating(stage.history, past)).toBeUndefined();
  await kubectl('delete', 'node', node);
  await stage.until((history) => shadowOf(history, node) === undefined);
}, 700_000);

test('an agent whose image came late brings its node up to date as any other', async () => {
  expect(await next()).toBe(WITHOUT_IMAGE);
  await relaxGuard(WITHOUT_IMAGE);
  await stage.until((history) => atRest(history, stage.options.to).includes(WITHOUT_IMAGE));
}, 400_000);

test('nothing that must hold was broken meanwhile', async () => {
  expect(await invariants(stage)).toEqual([]);
});
