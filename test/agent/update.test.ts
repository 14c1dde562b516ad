import { describe, expect, test } from '@jest/globals';
import { build, world } from './stage.ts';

describe('an update', () => {
  test('goes through its states in order, drained before it is activated, and ends at rest in service', async () => {
    build();
    await world.until(() => world.idle && world.operator.status.current_version === '1.39.0');
    expect(world.operator.log).toEqual([
      'createShadow',
      'Idle ->1.38.0',
      'Idle ->1.39.0',
      'StagedAndPerformedUpdate ->1.39.0 probe',
      'cordonAndDrain',
      'cordonAndDrain',
      'StagedAndPerformedUpdate ->1.39.0 record',
      'uncordon',
      'RebootedIntoUpdate ->1.39.0',
      'uncordon',
      'MonitoringUpdate ->1.39.0',
      'Idle ->1.39.0',
    ]);
    expect(world.operator.node).toMatchObject({ cordoned: false, drained: false, lbExcluded: false });
    expect(world.operator.status).toMatchObject({ crash_count: 0 });
    expect(world.operator.status.reboot).toBeUndefined();
    expect(world.asked('prepare-update')).toBe(1);
  });
});
