import { beforeEach, expect, test } from '@jest/globals';
import type { CoveredPods } from '../../../runtime/api/shadow/displaced.ts';
import { budgetsIn } from '../../../runtime/api/shadow/drain.ts';
import { letFinishText } from '../../../runtime/api/shadow/let-finish.ts';
import { LET_FINISH_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { withEvicted } from '../../../runtime/drain/cover.ts';
import { addBudget, addSpare } from '../budgets.ts';
import { SHADOWS } from '../objects.ts';
import { type Replica, started, World } from '../world.ts';

/** What a drain says of the budgets of its pods: by that the controller sees which drains block each other. */

let world: World;

beforeEach(async () => {
  world = await World.create();
  for (const name of ['web-1', 'db-1', 'db-2']) await world.addPod(name, { labels: { app: name.slice(0, -2) } });
  await addBudget(world, 'web');
  await addBudget(world, 'db', 'shop', 'db');
  await addSpare(world, 'db');
});

const drain = async (replica: Replica, boot = 'boot-1'): Promise<void> => {
  void started(replica.service.cordonAndDrain(await world.agent('n1', boot)));
  await world.clock.advance(5_000);
};

const budgets = async (): Promise<readonly CoveredPods[]> =>
  ((await world.shadow()).status?.displaced?.budgets ?? []).toSorted((a, b) => a.name.localeCompare(b.name));
/** `name: evicted of pods`. */
const said = async (): Promise<readonly string[]> =>
  (await budgets()).map(({ name, pods, left }) => `${name}: ${pods - left.length} of ${pods}`);

test('a drain that is blocked says whose pods it has evicted, which their budgets miss from then on', async () => {
  await world.addPod('bare');
  await drain(world.replica());
  expect(await said()).toEqual(['shop/db: 1 of 2', 'shop/web: 0 of 1']);
  expect([...budgetsIn((await world.shadow()).status?.drain?.blocked_by ?? [])].toSorted()).toEqual([
    'shop/db',
    'shop/web',
  ]);
});

test('another replica goes on from what is written', async () => {
  const first = world.replica();
  await drain(first);
  first.tap.kill();
  await addSpare(world, 'db');
  await drain(world.replica());
  expect(await said()).toEqual(['shop/db: 2 of 2', 'shop/web: 0 of 1']);
});

test('what was evicted stays on record where the drain begins anew after an unplanned reboot', async () => {
  const first = world.replica();
  await drain(first);
  first.tap.kill();
  await world.boots('1.38.0', 'boot-2');
  await drain(world.replica(), 'boot-2');
  expect(await said()).toEqual(['shop/db: 1 of 2', 'shop/web: 0 of 1']);
});

test('a drain without budgets writes down nothing of them', async () => {
  for (const name of ['web', 'db']) await world.delete(`/apis/policy/v1/namespaces/shop/poddisruptionbudgets/${name}`);
  await drain(world.replica());
  expect((await world.shadow()).status?.displaced ?? null).toBeNull();
});

test('pods that finish first are on record as well, and evicted once they are', async () => {
  const said_ = { pods: { matchLabels: { app: 'web' } }, doNotDisrupt: false, upToMs: 60_000 };
  const annotations = { [LET_FINISH_ANNOTATION]: letFinishText(said_) };
  await world.patch(`${SHADOWS}/brs-n1`, { metadata: { annotations } });
  await drain(world.replica());
  expect(await said()).toEqual(['shop/db: 0 of 2', 'shop/web: 0 of 1']);
  await addSpare(world, 'web');
  await world.clock.advance(70_000);
  expect(await said()).toEqual(['shop/db: 1 of 2', 'shop/web: 1 of 1']);
});

test('a drain that begins anew says no more of them than its status takes', () => {
  const forty = (prefix: string, left: readonly string[]): readonly CoveredPods[] =>
    Array.from({ length: 40 }, (_, at) => ({ name: `shop/${prefix}-${at}`, pods: 1, left: [...left] }));
  expect(withEvicted(forty('there', ['uid']), forty('before', []))).toHaveLength(50);
});
