import { beforeEach, describe, expect, test } from '@jest/globals';
import { LB_LABEL } from '../../runtime/marks/names.ts';
import { HOLD_ANNOTATION } from '../../runtime/shadow/names.ts';
import { World } from './world.ts';

/** What the older implementation's apiserver left on a node, which writes no marks; an administrator's looks the same. */

let world: World;

beforeEach(async () => {
  world = await World.create();
  await world.setCordon(true);
  await world.patch('/api/v1/nodes/n1', { metadata: { labels: { [LB_LABEL]: 'True' } } });
});

interface Left {
  readonly cordoned: boolean;
  readonly excluded: boolean;
}
const UNTOUCHED: Left = { cordoned: true, excluded: true };

async function afterRelease(): Promise<Left> {
  const { service } = world.replica();
  const agent = await world.agent('n1', 'boot-2');
  await service.removeExclusionFromLb(agent);
  await service.uncordon(agent);
  const { metadata, spec } = await world.node();
  return { cordoned: spec?.unschedulable === true, excluded: metadata.labels?.[LB_LABEL] !== undefined };
}

const rebooted = (): Promise<unknown> => world.reboot('n1', { bootID: 'boot-2', version: '1.39.0' });

describe('what stands on a node without marks', () => {
  test('is taken over at the wanted version, where no drain of ours has run', async () => {
    await rebooted();
    expect(await afterRelease()).toEqual({ cordoned: false, excluded: false });
  });

  test('stays once a drain of ours has run in this attempt', async () => {
    await rebooted();
    await world.setStatus('n1', { drain: { started_at: '2026-01-01T00:00:00Z', pods_left: 0, blocked_by: [] } });
    expect(await afterRelease()).toEqual(UNTOUCHED);
  });

  test.each(['Idle', 'StagedAndPerformedUpdate', 'MonitoringUpdate'] as const)(
    'stays while spec is %s',
    async (state) => {
      await rebooted();
      await world.setSpec('n1', { state });
      expect(await afterRelease()).toEqual(UNTOUCHED);
    },
  );

  test('stays where the node’s image names no version, whatever is wanted', async () => {
    await world.patch('/api/v1/nodes/n1/status', { status: { nodeInfo: { osImage: 'Debian' } } });
    expect(await afterRelease()).toEqual(UNTOUCHED);
    await world.setSpec('n1', { version: null });
    expect(await afterRelease()).toEqual(UNTOUCHED);
  });

  test('keeps its cordon, but not its exclusion, on a node on hold', async () => {
    await rebooted();
    await world.patch('/api/v1/nodes/n1', { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
    expect(await afterRelease()).toEqual({ cordoned: true, excluded: false });
  });
});

test('beside marks of ours, what they do not own is an administrator’s', async () => {
  await world.replica().service.cordonAndDrain(await world.agent());
  // As with a definition of the resource that drops the field.
  await world.setStatus('n1', { drain: null });
  await rebooted();
  expect(await afterRelease()).toEqual(UNTOUCHED);
  expect(await world.marks()).toBeUndefined();
});
