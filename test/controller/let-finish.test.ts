import { afterEach, expect, test } from '@jest/globals';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import { LET_FINISH_ANNOTATION, NAMESPACE, PAUSED_ANNOTATION, shadowName } from '../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { definePolicies } from '../policies.ts';
import { MINUTE, verdictOn } from './checked.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

const DRAIN = { waitFor: { matchLabels: { app: 'batch' } }, upTo: '6h' };

async function upToAsked(spec: object = { drain: DRAIN }): Promise<Manager> {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, { all: { nodeSelector: {}, maxConcurrent: 1, proof: { nodes: 2 }, ...spec } });
  await stage.pass(30_000);
  const controller = stage.start();
  await stage.pass(10_000);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  return controller;
}

/** As the apiserver has it while the pods of the first node finish. */
async function upToFinishing(): Promise<Manager> {
  const controller = await upToAsked();
  const [since, until] = [stage.clock.now(), stage.clock.now() + 360 * MINUTE].map((at) => rfc3339(at));
  const drain = { started_at: since!, pods_left: 2, blocked_by: [], reported_at: since! };
  await stage.report('a', { drain: { ...drain, waits_for: ['ci/build-7'], waits_until: until! } });
  const marks = { id: 'm', since, boot: 'boot-1', waitsUntil: until, owns: ['cordon'] };
  const annotations = { [MARKS_ANNOTATION]: JSON.stringify(marks) };
  await stage.patchNode('a', { metadata: { annotations }, spec: { unschedulable: true } });
  await stage.pass();
  return controller;
}

const said = async () => (await stage.shadows.get(shadowName('a')))?.metadata.annotations?.[LET_FINISH_ANNOTATION];

test('the write that asks for the drain says whose work finishes first, and one without a policy takes that back', async () => {
  await upToAsked();
  expect(JSON.parse((await said()) ?? '')).toEqual({
    pods: DRAIN.waitFor,
    doNotDisrupt: false,
    upToMs: 360 * MINUTE,
  });
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
});

test('nothing is said where the policy lets no pod finish', async () => {
  await upToAsked({});
  expect(await said()).toBeUndefined();
});

test('the verdict names the pods and until when, the node keeps its permit for as long, and is not late', async () => {
  const controller = await upToFinishing();
  await stage.pass(100 * MINUTE);
  expect(verdictOn(controller, 'a')).toMatchObject({
    reason: 'WorkFinishing',
    message: expect.stringContaining('ci/build-7'),
    phase: 'finishing',
    until: expect.any(Number),
  });
  expect(await stage.specs('a', 'b')).toEqual(['RebootedIntoUpdate 1.1.0', 'Idle']);
  expect(await stage.permits()).toEqual(['brs-a']);
});

const metadata = (annotation: string): object => ({ metadata: { annotations: { [annotation]: 'people' } } });

test.each<[string, () => Promise<unknown>]>([
  ['a pause', () => stage.patch(`/api/v1/namespaces/${NAMESPACE}`, metadata(PAUSED_ANNOTATION))],
  ['a hold', () => stage.patchNode('a', metadata('brupop.bottlerocket.aws/hold'))],
  ['a policy that is paused', () => stage.patch(`${POLICIES_PATH}/all`, { spec: { paused: true } })],
])('%s calls off a node that only lets work finish, and none of what was done to it is left', async (_, happens) => {
  await upToFinishing();
  await happens();
  await stage.pass(MINUTE);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(3 * MINUTE);
  const { metadata: left } = (await stage.nodes.get('a'))!;
  expect(left.annotations?.[MARKS_ANNOTATION]).toBeUndefined();
  expect(await stage.permits()).toEqual([]);
});

test('one that was called off comes after those that were not', async () => {
  await upToFinishing();
  await stage.patch(`${POLICIES_PATH}/all`, { spec: { paused: true } });
  await stage.pass(MINUTE);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(3 * MINUTE);
  await stage.patch(`${POLICIES_PATH}/all`, { spec: { paused: false } });
  await stage.pass(MINUTE);
  expect(await stage.permits()).toEqual(['brs-b']);
});

test('a drain that has begun to evict is called off by nothing of that', async () => {
  await upToFinishing();
  await stage.mark('a');
  await stage.patch(`${POLICIES_PATH}/all`, { spec: { paused: true } });
  await stage.pass(5 * MINUTE);
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
});
