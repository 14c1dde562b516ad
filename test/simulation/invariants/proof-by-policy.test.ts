import { describe, expect, test } from '@jest/globals';
import { ALL, fleet, MANY, of } from './pools.ts';
import { halted, proof, reach } from './releases.ts';
import type { Rule } from './rule.ts';
import { Story, timeAt } from './story.ts';

const APISERVER = { by: 'apiserver-0' };
const DISTURBED = { state: 'RebootedIntoUpdate', version: '1.1.0' };

describe('proof by policy', () => {
  const proving = (spec: object): Story =>
    fleet(proof, { ...MANY, PROOF_NODES: '1' })
      .policy('one', { ...of('test'), ...spec })
      .after(2);

  test('each policy proves a release by itself, with as many nodes as it says', () => {
    expect(proving({}).start('t1').start('p1').after(2).start('t2').breaches).toEqual([
      'controller-0 started t2 on 1.1.0, which is not proven: 1 may, and t1, t2 are on their way',
    ]);
    expect(
      proving({ proof: { nodes: 2 } })
        .start('t1')
        .after(2)
        .start('t2').breaches,
    ).toEqual([]);
    expect(proving({}).start('p1').finish('p1').start('t1').after(2).start('t2').breaches).toHaveLength(1);
  });

  test('a node that is not Ready for long is lost, or has failed before anybody has written so', () => {
    const away = (minutes: number): readonly string[] =>
      proving({}).start('t1').node('t1', { ready: false }).after(minutes).start('t2').breaches;
    expect(away(10)).toHaveLength(1);
    expect(away(15)).toEqual([]);
    const reboot = { boot_id: 'boot of t1', version: '1.1.0', requested_at: timeAt(2) };
    const late = proving({}).start('t1').shadow('t1', { status: { reboot } }, APISERVER).after(16);
    expect(late.node('t1', { ready: false }).start('t2').breaches).toEqual([]);
  });

  test('its nodes have to be well for a while', () => {
    const soaking = proving({ proof: { soak: '10m' } })
      .start('t1')
      .finish('t1')
      .after(5);
    expect(soaking.start('t2').breaches).toEqual([
      'controller-0 started t2 on 1.1.0, which is not proven: 1 may, and t1, t2 are on their way',
    ]);
    const soaked = proving({ proof: { soak: '10m' } })
      .start('t1')
      .finish('t1')
      .after(11);
    expect(soaked.start('t2').breaches).toEqual([]);
  });

  test('those that are disturbed are counted once more', () => {
    const staged = proving({ proof: { nodes: 2 } })
      .start('t1')
      .start('t2')
      .policy('one', of('test'))
      .after(2);
    staged.shadow('t1', DISTURBED).after(2);
    expect(staged.shadow('t2', DISTURBED).breaches).toEqual([
      'controller-0 let the drain begin of t2 on 1.1.0, which is not proven: 1 may, and t1, t2 are disturbed',
    ]);
  });

  test('one that was disturbed in an earlier update, and has begun anew right after its policy was changed, is not', () => {
    const again = proving({ proof: { nodes: 2 } })
      .start('t1')
      .shadow('t1', DISTURBED)
      .finish('t1')
      .policy('one', { ...of('test'), proof: { nodes: 3 } })
      .start('t1', { version: '1.2.0' })
      .start('t2', { version: '1.2.0' })
      .policy('one', of('test'))
      .after(2);
    expect(again.shadow('t2', { ...DISTURBED, version: '1.2.0' }).breaches).toEqual([]);
  });
});

describe('a bad release', () => {
  const failing = (rule: Rule): Story => {
    const releases = [
      { version: '1.0.0', from: 0 },
      { version: '1.1.0', from: 0, bad: 'does-not-boot' },
    ] as const;
    const story = new Story(rule, { controller: MANY, releases }).fleet('n1', 'n2', 'n3', 'n4');
    story.policy('all', { ...ALL, proof: { nodes: 1 } }).after(2);
    for (const name of ['n1', 'n2', 'n3']) {
      story.start(name).host(name, { kind: 'down', asked: true });
      story.shadow(name, { state: 'Idle', status: { failed_versions: ['1.1.0'], crash_count: 1 } }, APISERVER).after(2);
    }
    return story;
  };

  test('is halted after one more than two that were to prove it', () => {
    expect(failing(halted).breaches).toEqual([]);
    expect(failing(halted).start('n4').breaches).toEqual(['controller-0 started n4 on 1.1.0, which is halted']);
  });

  test('reaches no more', () => {
    expect(failing(reach).breaches).toEqual([]);
    expect(failing(reach).start('n4').host('n4', { kind: 'down', asked: true }).breaches).toEqual([
      '4 nodes went down for 1.1.0, which is bad, and 3 may',
    ]);
  });
});
