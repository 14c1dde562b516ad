import { describe, expect, test } from '@jest/globals';
import { blame } from './blame.ts';
import { obeyed } from './obeyed.ts';
import { permits } from './permits.ts';
import { reach } from './reach.ts';
import { MARKED, PROVEN, Story, timeAt } from './story.ts';

const AGENT = { by: 'apiserver-0' };
const ALL = { nodeSelector: {} };
const FAILED = { failed_versions: ['1.1.0'], crash_count: 1 };

describe('obeyed', () => {
  const fleet = (): Story => new Story(obeyed).fleet('n1');
  const staged = (): Story =>
    fleet()
      .start('n1')
      .shadow('n1', { status: { current_state: 'Idle' } }, AGENT);
  const DISTURBED = { state: 'RebootedIntoUpdate' };

  test.each<[string, (story: Story) => Story]>([
    ['everything is paused', (story) => story.pause(true)],
    ['it is held', (story) => story.node('n1', { held: true })],
    ['it is not Ready', (story) => story.node('n1', { ready: false })],
    ['p is paused', (story) => story.policy('p', { ...ALL, paused: true })],
    ['p cannot be obeyed', (story) => story.policy('p', { ...ALL, after: ['p'] })],
    ['p, q all rule it', (story) => story.policy('p', ALL).policy('q', ALL)],
    ['p is frozen', (story) => story.policy('p', { ...ALL, freezes: [{ from: timeAt(0), to: timeAt(60) }] })],
  ])('nothing begins nor is disturbed while %s', (said, say) => {
    expect(say(fleet()).start('n1').breaches).toEqual([]);
    expect(say(fleet()).after(2).start('n1').breaches).toEqual([`controller-0 started n1, and ${said}`]);
    expect(say(staged()).after(2).shadow('n1', DISTURBED).breaches).toEqual([
      `controller-0 let the drain begin of n1, and ${said}`,
    ]);
  });

  test('what is in the way excuses nobody for longer than four minutes', () => {
    const blind = { kind: 'fault', id: 1, name: 'watch-mute', about: 'controller-0', phase: 'begins' } as const;
    const told = (minutes: number): Story => fleet().tell(blind).pause(true).after(minutes).start('n1');
    expect(told(3).breaches).toEqual([]);
    expect(told(5).breaches).toHaveLength(1);
  });
});

describe('permits', () => {
  const START = { state: 'StagedAndPerformedUpdate', version: '1.1.0' };
  const fleet = (): Story => new Story(permits).fleet('n1', 'n2').slots('n2');

  test('a node begins, is marked and is rebooted only while the Lease names it', () => {
    const said = ['n1 is updated, and the Lease does not name it'];
    expect(fleet().shadow('n1', START).breaches).toEqual(said);
    expect(fleet().node('n1', { marks: MARKED }, AGENT).breaches).toEqual(said);
    expect(fleet().call('n1', 'reboot').breaches).toEqual(said);
    expect(fleet().slots('n1').shadow('n1', START).node('n1', { marks: MARKED }, AGENT).breaches).toEqual([]);
  });

  test('an update of an older operator goes on', () => {
    const begun = fleet().shadow('n1', START, { by: 'older-operator' });
    expect(begun.node('n1', { marks: PROVEN }, AGENT).call('n1', 'reboot').breaches).toEqual([]);
  });
});

describe('reach', () => {
  const releases = [
    { version: '1.0.0', from: 0 },
    { version: '1.1.0', from: 0, bad: 'does-not-boot' },
  ] as const;
  const controller = { MAX_FAILED_UPDATE: '1', MAX_CONCURRENT_UPDATE: '3' };
  const fleet = (): Story => new Story(reach, { controller, releases }).fleet('n1', 'n2').start('n1').start('n2');
  const down = { kind: 'down', asked: true } as const;

  test('a second node goes down for a release that does not boot, where one may fail', () => {
    expect(fleet().host('n1', down).host('n1', down).breaches).toEqual([]);
    expect(fleet().host('n1', down).host('n2', down).breaches).toEqual([
      '2 nodes went down for 1.1.0, which is bad, and 1 may',
    ]);
    expect(fleet().host('n1', down).host('n2', { kind: 'down', asked: false }).breaches).toEqual([]);
  });

  test('where somebody has deleted the shadow of the first, another may try', () => {
    expect(fleet().host('n1', down).shadowGone('n1', 'person').host('n2', down).breaches).toEqual([]);
  });

  test('those that failed on it before may all try again under a new policy, and no other', () => {
    const story = fleet().fleet('n3').shadow('n1', { status: FAILED }, AGENT).shadow('n2', { status: FAILED }, AGENT);
    story.policy('one', ALL);
    for (const name of ['n1', 'n2']) story.shadow(name, { state: 'Idle' }).start(name).host(name, down);
    expect(story.breaches).toEqual([]);
    expect(story.start('n3').host('n3', down).breaches).toHaveLength(1);
  });
});

describe('blame', () => {
  const started = (): Story => new Story(blame).fleet('n1').start('n1');
  const fails = (story: Story, reason: string, versions = ['1.1.0']): readonly string[] =>
    story.shadow('n1', { status: { failed_versions: versions, last_failure: { reason } } }, AGENT).breaches;
  const rebooted = (version: string, asked: boolean): Story =>
    started().host('n1', { kind: 'down', asked }).host('n1', { kind: 'up', bootId: 'b2', version });

  test('a boot that failed was asked for, and led elsewhere', () => {
    expect(fails(rebooted('1.0.0', true), 'BootFailed')).toEqual([]);
    expect(fails(rebooted('1.0.0', false), 'BootFailed')).toEqual([
      'n1 blames 1.1.0 for BootFailed, and that never happened',
    ]);
    expect(fails(rebooted('1.1.0', true), 'BootFailed')).toHaveLength(1);
  });

  test('what no release is to blame for blames none, and none but the one that was to be installed', () => {
    expect(fails(started(), 'DrainFailed')).toEqual(['n1 blames 1.1.0 for DrainFailed']);
    expect(fails(started().call('n1', 'prepare-update'), 'PrepareFailed', ['1.2.0'])).toHaveLength(1);
    expect(fails(started(), 'DrainFailed', [])).toEqual([]);
  });

  test('a node is given the whole time to return, from its request on', () => {
    const reboot = { boot_id: 'b', version: '1.1.0', requested_at: '2026-03-01T00:00:00Z' };
    const lost = (minutes: number): readonly string[] =>
      started()
        .after(60)
        .shadow('n1', { status: { reboot } }, AGENT)
        .after(minutes)
        .shadow('n1', { verdict: 'NotReturned' }).breaches;
    expect(lost(14)).toEqual(['n1 is said not to have returned, and was asked to reboot at 01:00:00.007']);
    expect(lost(15)).toEqual([]);
  });
});
