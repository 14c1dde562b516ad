import { afterEach, describe, expect, test } from '@jest/globals';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import type { DisplacedWorkloads } from '../../runtime/api/shadow/displaced.ts';
import { PAUSED_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { Checked, MINUTE, verdictOn } from './checked.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

const MISSING = 'ReplicaSet shop/web: 1 of 3 ready (ImagePullBackOff)';
const OWNER = { kind: 'ReplicaSet', namespace: 'shop', name: 'web', uid: 'u', ready: 3 };

function away(looked_at: string | null): DisplacedWorkloads {
  return { owners: [OWNER], looked_at, missing: looked_at === null ? [] : [MISSING] };
}

/** Up to where the first of two nodes is back, and its agent has had its displaced workloads looked at. */
async function upToBack(spec: object | undefined, displaced?: DisplacedWorkloads | null): Promise<Manager> {
  stage = await Stage.with('a', 'b');
  if (spec) await definePolicies(stage, { all: { nodeSelector: {}, maxConcurrent: 1, maxFailed: 5, ...spec } });
  await stage.pass(30_000);
  const controller = stage.start();
  await stage.pass(10_000);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
  await stage.pass();
  const looked = displaced === undefined ? away(rfc3339(stage.clock.now())) : displaced;
  await stage.report('a', { current_state: 'MonitoringUpdate', displaced: looked });
  await stage.pass();
  return controller;
}

/** They are not back, as somebody sees each half minute. */
async function lookedAt(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= MINUTE / 2) {
    await stage.report('a', { displaced: away(rfc3339(stage.clock.now())) });
    await stage.pass(MINUTE / 2);
  }
}

const notBack = async (): Promise<readonly string[]> =>
  (await stage.told()).filter(({ reason }) => reason === 'WorkloadsNotBack').map(({ message }) => message);

test('a node keeps its permit until what its drain has displaced runs again, and passes at once then', async () => {
  const controller = await upToBack(undefined);
  expect(verdictOn(controller, 'a')).toMatchObject({
    reason: 'WorkloadsNotBack',
    message: expect.stringContaining(MISSING),
    phase: 'settling',
    until: expect.any(Number),
  });
  await stage.pass(2 * MINUTE);
  expect(await stage.specs('a', 'b')).toEqual(['MonitoringUpdate 1.1.0', 'Idle']);
  await stage.report('a', { displaced: null });
  await stage.pass();
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  expect(await notBack()).toEqual([]);
});

test('a node whose workloads were back before it was told to be monitored waits for nothing', async () => {
  await upToBack(undefined, null);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
});

test('at the end of its time the place is given back, with an Event, a count, and a word that stays on the node', async () => {
  const controller = await upToBack({ settle: '3m' });
  await lookedAt(2 * MINUTE);
  expect(await stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
  await lookedAt(2 * MINUTE);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  expect(await notBack()).toEqual([expect.stringContaining(MISSING)]);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(10_000);
  expect(verdictOn(controller, 'a')).toMatchObject({ reason: 'UpToDate', notBack: MISSING });
  expect(await new Checked(stage).failed()).toEqual([]);
  expect(await stage.permits()).toEqual(['brs-b']);
  const text = await controller.metrics.registry.metrics();
  expect(text).toMatch(/^brupop_controller_workloads_not_back_total 1$/m);
});

test('with settleFails that counts as a failure on the release, which its Ready node does not take back', async () => {
  await upToBack({ settle: '3m', settleFails: true });
  await lookedAt(4 * MINUTE);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  expect(await new Checked(stage).failed()).toEqual(['a WorkloadsNotBack']);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(60 * MINUTE);
  expect(await new Checked(stage).failed()).toEqual(['a WorkloadsNotBack']);
});

test('but not where nobody has looked for a minute: an apiserver that is away is no failure', async () => {
  await upToBack({ settle: '3m', settleFails: true });
  await stage.pass(4 * MINUTE);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  expect([await notBack(), await new Checked(stage).failed()]).toEqual([[expect.stringContaining(MISSING)], []]);
});

test('workloads that are back in time fail nothing', async () => {
  await upToBack({ settle: '3m', settleFails: true });
  await stage.pass(2 * MINUTE);
  await stage.report('a', { displaced: null });
  await stage.pass();
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(10 * MINUTE);
  expect(await new Checked(stage).failed()).toEqual([]);
});

test('settle: 0s waits for nothing and says nothing', async () => {
  const controller = await upToBack({ settle: '0s', settleFails: true });
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(10_000);
  expect(verdictOn(controller, 'a')).not.toHaveProperty('notBack');
  expect([...(await notBack()), ...(await new Checked(stage).failed())]).toEqual([]);
});

test('where nobody has looked, as of an older agent, half a minute is waited, and nothing is said', async () => {
  await upToBack({ settleFails: true }, away(null));
  expect(await stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
  await stage.pass(40_000);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  expect([...(await notBack()), ...(await new Checked(stage).failed())]).toEqual([]);
});

describe('no longer than its time waits', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['a pause', () => stage.patch(`/api/v1/namespaces/${NAMESPACE}`, metadata(PAUSED_ANNOTATION))],
    ['a hold', () => stage.patchNode('a', metadata('brupop.bottlerocket.aws/hold'))],
    ['a policy that is paused', () => stage.patch(`${POLICIES_PATH}/all`, { spec: { paused: true } })],
    ['a policy that is deleted', () => stage.delete(`${POLICIES_PATH}/all`)],
  ])('a node under %s', async (_, happens) => {
    await upToBack({ settle: '5m' });
    await happens();
    await stage.pass(6 * MINUTE);
    expect(await stage.spec('a')).toBe('Idle 1.1.0');
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(10_000);
    const { metadata: left, spec } = (await stage.nodes.get('a'))!;
    expect(left.annotations?.['brupop.bottlerocket.aws/marks']).toBeUndefined();
    expect(spec?.unschedulable ?? false).toBe(false);
  });

  test('a node under a new leader', async () => {
    await upToBack({ settle: '5m' });
    await stage.pass(4 * MINUTE);
    await stage.takeLease();
    await stage.pass(90_000);
    expect(await stage.spec('a')).toBe('Idle 1.1.0');
  });
});

const metadata = (annotation: string): object => ({ metadata: { annotations: { [annotation]: 'people' } } });
