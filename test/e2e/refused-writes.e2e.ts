import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SERVICE_ACCOUNTS } from '../../infra/names.ts';
import type { KubeList, KubeObject } from '../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { CONTROLLER_DEPLOYMENT, GROUP, NAMESPACE, PAUSED_ANNOTATION, PLURAL } from '../../runtime/api/shadow/names.ts';
import { refuseWrites } from './admission.ts';
import { auditOf } from './audit.ts';
import { comesTrue } from './come-true.ts';
import { guard, relaxGuard } from './guard.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, isCordoned, shadowOf, updating, verdict } from './looks.ts';
import { type Scene, Stage } from './scene.ts';

/** Admission policies of the cluster that refuse what the operator writes, for a while. */

const APISERVER = `system:serviceaccount:${NAMESPACE}:${SERVICE_ACCOUNTS.apiserver}`;
const CONTROLLER = `system:serviceaccount:${NAMESPACE}:${SERVICE_ACCOUNTS.controller}`;
const NODES = ['node-1', 'node-2', 'node-3'];
/** Nodes whose turn is over or under way, in order. */
const turns: string[] = [];

let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  scene = await stage.startFleet({ nodes: NODES.length });
  // In time: a drain can be over before somebody who saw it begin has put a guard there.
  for (const node of NODES) await guard(stage.cluster, node);
});

afterAll(() => stage.strike(), 60_000);

async function next(): Promise<string> {
  const node = await scene.until((history) => updating(history, turns));
  turns.push(node);
  await scene.until((history) => verdict(history, node)?.reason === 'DrainBlocked');
  return node;
}

/** Resolves when an Event of this reason says these words of the object. */
const told = (reason: string, name: string, words: string): Promise<void> =>
  comesTrue(async () => {
    const { stdout } = await kubectl('get', 'events', '-A', '-o', 'json');
    const { items } = JSON.parse(stdout) as KubeList<KubeObject & Told>;
    return items.some(
      (one) => one.reason === reason && one.involvedObject.name === name && one.message.includes(words),
    );
  });

interface Told {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly name: string };
}

/** How often each pod was evicted, of those that were. */
async function evictions(): Promise<ReadonlyMap<string, number>> {
  const done = (await auditOf(stage.cluster)).filter(
    ({ objectRef, responseStatus }) => objectRef?.subresource === 'eviction' && responseStatus?.code === 201,
  );
  return new Map(
    [...Map.groupBy(done, ({ objectRef }) => objectRef?.name ?? '')].map(([name, all]) => [name, all.length]),
  );
}

test('a report that is refused while a drain ends undoes nothing: the node waits drained, and goes on once it may', async () => {
  const { history, until, cluster, options } = scene;
  const node = await next();
  const words = 'no statuses in this hour';
  const allow = await refuseWrites(cluster, {
    name: 'no-statuses',
    words,
    user: APISERVER,
    resource: { group: GROUP, plural: `${PLURAL}/status` },
  });
  await told('WriteRefused', node, words);
  await relaxGuard(node);
  await until(() => history.nodes.get(node)?.metadata.annotations?.[MARKS_ANNOTATION]?.includes('"drained"'));
  expect(isCordoned(history, node)).toBe(true);
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}=`);
  await allow();
  await until(() => atRest(history, options.to).includes(node));
  expect(shadowOf(history, node)?.status).toMatchObject({ crash_count: 0 });
  expect(Math.max(...(await evictions()).values())).toBe(1);
}, 120_000);

test('a cordon that is refused is told in the words of who refuses it, and is asked for until it may be', async () => {
  const { history, until, cluster, options } = scene;
  const words = 'nodes are changed at night';
  const allow = await refuseWrites(cluster, {
    name: 'no-cordons',
    words,
    user: APISERVER,
    resource: { group: '', plural: 'nodes' },
    where: 'has(object.spec.unschedulable) && !has(oldObject.spec.unschedulable)',
  });
  const another = NODES.find((name) => !turns.includes(name)) ?? '';
  await comesTrue(() =>
    kubectl(
      'patch',
      'node',
      another,
      '-p',
      '{"spec":{"unschedulable":true}}',
      '--dry-run=server',
      `--as=${APISERVER}`,
    ).then(
      () => false,
      (error: unknown) => String(error).includes(words),
    ),
  );
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}-`);
  const node = await until(() => updating(history, turns));
  turns.push(node);
  await relaxGuard(node);
  await told('WriteRefused', node, words);
  await until(() => shadowOf(history, node)?.status?.drain?.blocked_by.some((text) => text.includes(words)));
  expect(isCordoned(history, node)).toBe(false);
  await allow();
  await until(() => atRest(history, options.to).includes(node));
}, 90_000);

test('a Lease that is refused is told, nothing starts without it, and the rollout goes on with it', async () => {
  const { history, until, cluster, options } = scene;
  const words = 'no leases today';
  const node = await next();
  const allow = await refuseWrites(cluster, {
    name: 'no-leases',
    words,
    user: CONTROLLER,
    resource: { group: 'coordination.k8s.io', plural: 'leases' },
  });
  await told('LeaseRefused', CONTROLLER_DEPLOYMENT, words);
  await relaxGuard(node);
  await allow();
  await until(() => atRest(history, options.to).length === 3);
  expect(await invariants(scene)).toEqual([]);
}, 90_000);
