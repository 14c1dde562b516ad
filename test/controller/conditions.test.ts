import { afterEach, expect, test } from '@jest/globals';
import type { Disturbance } from '../../lab/sim/cluster/cluster.ts';
import { CRD_NAME, PLURAL } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { shadowCrd } from '../shadow-crd.ts';

let stage: Stage;
afterEach(() => stage.end());

const statusWrites = (): number =>
  stage.cluster.audit.filter(
    ({ resource, subresource, verb }) => resource === PLURAL && subresource === 'status' && verb === 'patch',
  ).length;
const reasonOf = async (shadow: string): Promise<string | undefined> =>
  (await stage.shadows.get(shadow))?.status?.conditions?.[0]?.reason;
const bringUpToDate = (): Promise<unknown> =>
  stage.patch(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`, {
    spec: (shadowCrd() as { spec: object }).spec,
  });

test('a CRD that drops conditions is asked again each hour, with a single write, and found once it keeps them', async () => {
  stage = await Stage.withoutConditions('a', 'b', 'c');
  const before = statusWrites();
  stage.start();
  await stage.pass(3_000_000);
  expect(statusWrites() - before).toBe(1);
  await stage.pass(3_600_000);
  expect(statusWrites() - before).toBe(2);
  await bringUpToDate();
  await stage.pass(60_000);
  expect(await reasonOf('brs-b')).toBeUndefined();
  await stage.pass(3_600_000);
  expect(await reasonOf('brs-b')).toBe('WaitingForSlot');
});

test('the leader of a new term asks at once', async () => {
  stage = await Stage.withoutConditions('a', 'b');
  const controller = stage.start();
  await stage.pass(60_000);
  await bringUpToDate();
  await stage.pass(60_000);
  expect(await reasonOf('brs-b')).toBeUndefined();
  await stage.takeLease();
  await stage.pass(60_000);
  expect(controller.preview().leading).toBe(true);
  expect(await reasonOf('brs-b')).toBe('WaitingForSlot');
});

const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  refused: { kind: 'refuse', code: 422, reason: 'Invalid', message: 'not this one' },
  'failed by a webhook': { kind: 'refuse', code: 500, reason: 'InternalError', message: 'no webhook' },
  'not answered': { kind: 'hang' },
};

test.each(Object.entries(DISTURBANCES))(
  'one condition that is %s delays no other, and is tried ever more rarely',
  async (_what, disturbance) => {
    const names = Array.from({ length: 20 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    stage = await Stage.with(...names);
    const status = { resource: 'bottlerocketshadows', subresource: 'status', name: 'brs-n00' };
    const end = stage.cluster.disturb(status, disturbance);
    stage.start();
    await stage.pass(4000);
    const others = await Promise.all(names.slice(1).map((name) => reasonOf(`brs-${name}`)));
    expect(others).toEqual(names.slice(1).map(() => 'WaitingForSlot'));
    await stage.pass(1_800_000);
    const before = statusWrites();
    await stage.pass(3_600_000);
    expect(statusWrites() - before).toBeLessThan(15);
    end();
    await stage.pass(400_000);
    expect(await reasonOf('brs-n00')).toBe('Updating');
  },
);

test('the condition of a node is written when its update begins and when it is over, and not when its host is back', async () => {
  stage = await Stage.with('a');
  stage.start();
  await stage.pass(2000);
  const seen: string[] = [];
  const look = async (): Promise<void> => {
    await stage.pass(2000);
    const [condition] = (await stage.shadows.get('brs-a'))?.status?.conditions ?? [];
    seen.push(`${condition?.status} ${condition?.reason}`);
  };
  await look();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  for (const current_state of ['RebootedIntoUpdate', 'MonitoringUpdate', 'Idle'] as const) {
    await stage.pass(2000);
    await stage.report('a', { current_state, current_version: '1.1.0' });
    await look();
  }
  expect(seen).toEqual(['False Updating', 'False Updating', 'False Updating', 'True UpToDate']);
});
