import { afterEach, describe, expect, test } from '@jest/globals';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

/** What people are told of a proven release that goes to more nodes at once as more run it well. */

let stage: Stage;
afterEach(() => stage.end());

const NODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const env = { MAX_CONCURRENT_UPDATE: 'unlimited' };

/** `a` has proven the release, and two are on their way: as many as may. */
async function widened(maxConcurrent: number | string): Promise<AbortController> {
  stage = await Stage.with(...NODES);
  const proof = { nodes: 1, widen: 2 };
  await definePolicies(stage, { all: { nodeSelector: {}, maxConcurrent, proof } });
  await stage.pass(30_000);
  const first = new AbortController();
  stage.start({ env, signal: first.signal });
  await stage.pass(10_000);
  await stage.update('a');
  await stage.pass(10_000);
  return first;
}

async function told(): Promise<readonly string[]> {
  return (await stage.told()).flatMap(({ reason, message, count, involvedObject }) =>
    reason === 'Widening' && involvedObject.kind === POLICY_KIND ? `${count} ${involvedObject.name}: ${message}` : [],
  );
}

/** As the API server does after an hour. */
async function forgetEvents(): Promise<void> {
  const events = (await stage.list('/api/v1/events')).items;
  for (const { metadata } of events)
    await stage.delete(`/api/v1/namespaces/${metadata.namespace}/events/${metadata.name}`);
}

async function pausePolicy(paused: boolean): Promise<void> {
  await stage.patch(`${POLICIES_PATH}/all`, { spec: { paused } });
  await stage.pass(60_000);
}

const SAID =
  '1 all: 1.1.0 (aws-k8s-1.33/amd64) goes to 2 at once, and to more as more nodes run it well (1 now); maxConcurrent is 5';

test('that it keeps nodes waiting is told once with how far it goes, and not again at each step or after a pause', async () => {
  await widened(5);
  expect(await told()).toEqual([SAID]);
  await forgetEvents();
  await stage.update('b');
  await stage.pass(60_000);
  expect(await stage.permits()).toHaveLength(4);
  await pausePolicy(true);
  await pausePolicy(false);
  expect(await told()).toEqual([]);
});

describe('another leader does not repeat it', () => {
  test('once the API server has forgotten the Event', async () => {
    const first = await widened(5);
    await forgetEvents();
    first.abort();
    await stage.pass(60_000);
    stage.start({ env });
    await stage.pass(60_000);
    expect(await told()).toEqual([]);
  });

  test('where it began while no node waited for that', async () => {
    const first = await widened(5);
    first.abort();
    await stage.pass(60_000);
    await pausePolicy(true);
    stage.start({ env });
    await stage.pass(60_000);
    await pausePolicy(false);
    expect(await stage.permits()).toHaveLength(2);
    expect(await told()).toEqual([SAID]);
  });
});

test.each([
  ['unlimited', [expect.stringMatching(/maxConcurrent is unlimited$/)]],
  [2, []],
])('with maxConcurrent %s: %j', async (maxConcurrent, said) => {
  await widened(maxConcurrent);
  expect(await stage.permits()).toHaveLength(2);
  expect(await told()).toEqual(said);
});
