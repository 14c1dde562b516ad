import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { roleName } from '../../infra/names.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { HOLD_ANNOTATION, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { auditOf, written } from './audit.ts';
import { guard, relaxGuard } from './guard.ts';
import { breaches } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, updating, verdict } from './looks.ts';
import { type Scene, Stage } from './scene.ts';

/** What people say while the controller may not read it, and has a place free all the time. */

const NODES = ['node-1', 'node-2', 'node-3'];
/** Those whose turn was allowed, in order. */
const turns: string[] = [];

let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator(await stage.manifestsWith({ CACHE_TIMEOUT_IN_SEC: '15' }));
  scene = await stage.startFleet({ nodes: NODES.length });
});

afterAll(() => stage.strike(), 60_000);

/** Takes a resource out of the controller's role, until the nodes that wait say so. @returns what gives it back */
async function withoutRight(resource: string): Promise<() => Promise<unknown>> {
  const role = roleName('controller');
  const { stdout } = await kubectl('get', 'clusterrole', role, '-o', 'json');
  const { rules } = JSON.parse(stdout) as { rules: readonly { readonly resources: readonly string[] }[] };
  const put = (next: readonly object[]): Promise<unknown> =>
    kubectl('patch', 'clusterrole', role, '--type=merge', '-p', JSON.stringify({ rules: next }));
  await put(rules.filter(({ resources }) => !resources.includes(resource)));
  await scene.until((history) =>
    waiting().every((node) => {
      const { reason, message } = verdict(history, node) ?? {};
      return reason === 'NotCurrent' && message?.includes(`the list of ${resource}`);
    }),
  );
  return () => put(rules);
}

const waiting = (): readonly string[] => NODES.filter((node) => !turns.includes(node));

/** Every node that was disturbed so far. */
async function disturbed(): Promise<readonly string[]> {
  const seen = [...written(await auditOf(stage.cluster)), ...scene.history.sightings];
  const marked = seen.filter(({ object }) => object.metadata.annotations?.[MARKS_ANNOTATION] !== undefined);
  return [...new Set(marked.map(({ object }) => object.metadata.name))].toSorted();
}

test('a pause that the controller may not read stops whatever is not disturbed yet, and a drain goes on', async () => {
  const { history, until, cluster, options } = scene;
  const node = await until((seen) => updating(seen));
  turns.push(node);
  // All of them: a node that can be drained would go in its place.
  for (const one of NODES) await guard(cluster, one);
  await until(() => verdict(history, node)?.reason === 'DrainBlocked');
  const giveBack = await withoutRight('namespaces');
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}=ann`);
  for (const one of NODES) await relaxGuard(one);
  await until(() => atRest(history, options.to).includes(node));
  await giveBack();
  await until(() => waiting().every((other) => verdict(history, other)?.reason === 'Paused'));
  expect(await disturbed()).toEqual(turns);
}, 120_000);

test('a hold that it may not read does so too, and the others go on once it may read it', async () => {
  const { history, until, options } = scene;
  const giveBack = await withoutRight('nodes');
  const [held = '', other = ''] = waiting();
  await kubectl('annotate', 'node', held, `${HOLD_ANNOTATION}=`);
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}-`);
  await giveBack();
  await until(() => verdict(history, held)?.reason === 'Held' && atRest(history, options.to).includes(other));
  turns.push(other);
  expect(await disturbed()).toEqual(turns.toSorted());
  expect(breaches(history.sightings, scene.fleet.reboots, {})).toEqual([]);
}, 120_000);
