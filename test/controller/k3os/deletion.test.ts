import { afterEach, describe, expect, test } from '@jest/globals';
import { K3osStage } from './stage.ts';

let k3os: K3osStage;
afterEach(() => k3os.stage.end());

const specs = (...nodes: string[]) => k3os.stage.specs(...nodes);

describe('a channel that is deleted to stop its rollout', () => {
  test('comes back when nobody is being updated any more, and starts nothing', async () => {
    k3os = await K3osStage.with('n1', 'n2');
    await k3os.make();
    k3os.start();
    await k3os.pass();
    await k3os.stage.report('n1', { current_state: 'StagedAndPerformedUpdate' });
    await k3os.pass();
    await k3os.stage.mark('n1');
    await k3os.channels.delete('github-releases', {});
    await k3os.pass(30_000);
    expect([await specs('n1'), await k3os.channels.list()]).toEqual([['RebootedIntoUpdate 1.1.0'], []]);
    await k3os.stage.update('n1');
    await k3os.pass(30_000);
    expect((await k3os.channel()).spec).toMatchObject({ concurrency: 0, version: 'v1.1.0' });
    expect([await specs('n1', 'n2'), await k3os.verdict('n2')]).toEqual([
      ['Idle', 'Idle'],
      expect.stringMatching(/^Paused: /),
    ]);
  });

  test('calls off what has disturbed nobody yet: it would keep its permit, and nobody would take it back', async () => {
    k3os = await K3osStage.with('n1');
    await k3os.make();
    k3os.start();
    await k3os.pass();
    await k3os.channels.delete('github-releases', {});
    await k3os.pass(1000);
    await k3os.stage.report('n1', { current_state: 'StagedAndPerformedUpdate' });
    await k3os.pass(10_000);
    expect(await k3os.stage.spec('n1')).toBe('Idle 1.1.0');
  });
});
