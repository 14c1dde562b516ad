import { describe, expect, test } from '@jest/globals';
import { blame } from './blame.ts';
import { halted, proof, reach } from './releases.ts';
import { MARKED, type NodeState, PROVEN, Story } from './story.ts';

const AGENT = { by: 'apiserver-0' };
const FAILED = { failed_versions: ['1.1.0'], crash_count: 1 };
const ONE = { MAX_FAILED_UPDATE: '1', MAX_CONCURRENT_UPDATE: '3' };

describe('halted', () => {
  const failed = (): Story =>
    new Story(halted, { controller: ONE }).fleet('n1', 'n2', 'n3').shadow('n1', { status: FAILED }, AGENT);

  test('a node starts on a version on which too many have failed', () => {
    expect(failed().after(2).start('n2').breaches).toEqual(['controller-0 started n2 on 1.1.0, which is halted']);
    expect(failed().start('n2').breaches).toEqual([]);
  });

  test('who has failed on it may always try again, and another version is another matter', () => {
    expect(failed().after(2).start('n1').breaches).toEqual([]);
    expect(failed().after(2).start('n2', { version: '1.2.0' }).breaches).toEqual([]);
  });

  test('a failure that the node has made good counts no more', () => {
    expect(failed().finish('n1').after(2).start('n2').breaches).toEqual([]);
  });

  test('a node that did not come back, or is unwell since, counts as well', () => {
    const lost = new Story(halted, { controller: ONE })
      .fleet('n1', 'n2')
      .start('n1')
      .node('n1', { ready: false })
      .shadow('n1', { verdict: 'NotReturned' });
    expect(lost.after(2).start('n2').breaches).toHaveLength(1);
    expect(lost.node('n1', { ready: true }).after(2).start('n2').breaches).toHaveLength(1);
    const unwell = new Story(halted, { controller: ONE }).fleet('n1', 'n2').start('n1').finish('n1');
    unwell.node('n1', { ready: false });
    expect(unwell.shadow('n1', { verdict: 'SoakFailed' }).after(2).start('n2').breaches).toHaveLength(1);
  });

  test('one that was Ready for a moment is unwell anew', () => {
    const unwell = (): Story =>
      new Story(halted, { controller: ONE })
        .fleet('n1', 'n2')
        .start('n1')
        .finish('n1')
        .node('n1', { ready: false })
        .shadow('n1', { verdict: 'SoakFailed' })
        .after(20)
        .node('n1', { ready: true })
        .node('n1', { ready: false });
    expect(unwell().start('n2').breaches).toEqual([]);
    expect(unwell().after(2).start('n2').breaches).toHaveLength(1);
  });
});

describe('proof', () => {
  const fleet = (): Story => new Story(proof, { controller: ONE }).fleet('n1', 'n2', 'n3').start('n1');

  test('two nodes on their way to a version that none has completed, where one may fail on it', () => {
    expect(fleet().after(2).start('n2').breaches).toEqual([
      'controller-0 started n2 on 1.1.0, which is not proven: 1 may, and n1, n2 are on their way',
    ]);
  });

  test('a node that has its label back is still seen without it for a moment', () => {
    const labelled = (): Story =>
      fleet().after(2).node('n1', { managed: false }).after(1).node('n1', { managed: true });
    expect(labelled().start('n2').breaches).toEqual([]);
    expect(labelled().after(2).start('n2').breaches).toHaveLength(1);
  });

  test('once one has completed it, others follow', () => {
    expect(fleet().finish('n1').start('n2').start('n3').breaches).toEqual([]);
  });

  test('what a node has proven stands until it is known that the node has lost its label, or is gone', () => {
    const proven = (): Story => fleet().finish('n1').after(2);
    const unmanaged = (): Story => proven().node('n1', { managed: false });
    expect(unmanaged().start('n2').start('n3').breaches).toEqual([]);
    expect(proven().nodeGone('n1').start('n2').start('n3').breaches).toEqual([]);
    expect(unmanaged().after(2).start('n2').start('n3').breaches).toHaveLength(1);
    expect(proven().nodeGone('n1').after(2).start('n2').start('n3').breaches).toHaveLength(1);
  });

  test('who has gone not Ready a moment before it came to rest still seems to be well', () => {
    const unready = (): Story => fleet().node('n1', { ready: false });
    expect(unready().finish('n1').start('n2').start('n3').breaches).toEqual([]);
    expect(unready().after(2).finish('n1').start('n2').start('n3').breaches).toHaveLength(1);
  });

  test('who has been away for long since the reboot that it was asked for counts no more, record or not', () => {
    const asked = (state: NodeState): readonly string[] =>
      fleet()
        .shadow('n1', { state: 'RebootedIntoUpdate' })
        .node('n1', state, AGENT)
        .after(15)
        .node('n1', { ready: false })
        .start('n2').breaches;
    expect(asked({ marks: PROVEN })).toEqual([]);
    expect(asked({ marks: MARKED })).toHaveLength(1);
  });

  test('nor does one that is back from there, until that is known', () => {
    const back = (): Story => fleet().node('n1', { ready: false }).after(15).node('n1', { ready: true });
    expect(back().start('n2').breaches).toEqual([]);
    expect(back().after(2).start('n2').breaches).toHaveLength(1);
  });

  test('one whose update was ended before its reboot was asked for is disturbed no more', () => {
    const reboot = { boot_id: 'b', version: '1.1.0', requested_at: '2026-03-02T00:00:00Z' };
    const ended = (record: object | null): readonly string[] =>
      fleet()
        .shadow('n1', { state: 'RebootedIntoUpdate', status: { current_state: 'StagedAndPerformedUpdate' } })
        .process('agent-n1', 'killed')
        .shadow('n1', { state: 'Idle', status: { reboot: record } })
        .after(20)
        .start('n2')
        .process('agent-n1', 'starts')
        .after(2)
        .shadow('n2', { state: 'RebootedIntoUpdate' }).breaches;
    expect(ended(null)).toEqual([]);
    expect(ended(reboot)).toEqual([
      'controller-0 let the drain begin of n2 on 1.1.0, which is not proven: 1 may, and n1, n2 are disturbed',
    ]);
  });

  test('of a share, as many may as before a node is known to be gone', () => {
    const half = { controller: { ...ONE, MAX_FAILED_UPDATE: '3', PROOF_NODES: '50%' } };
    const left = (): Story => new Story(proof, half).fleet('n1', 'n2', 'n3').start('n1').after(2).nodeGone('n3');
    expect(left().start('n2').breaches).toEqual([]);
    expect(left().after(2).start('n2').breaches).toHaveLength(1);
  });

  test('who has failed on it and tries again takes no place in flight, and stands for his failure', () => {
    const again = fleet().shadow('n1', { status: FAILED }, AGENT);
    expect(again.shadow('n1', { state: 'Idle' }).start('n1').breaches).toEqual([]);
    expect(again.after(2).start('n2').breaches).toHaveLength(1);
  });

  test('so does one whose failure has no record, on the version that its spec names', () => {
    const again = (version: string): Story =>
      fleet()
        .after(2)
        .shadow('n2', { version, status: { crash_count: 1 } })
        .start('n2');
    expect(again('1.1.0').breaches).toEqual([]);
    expect(again('1.0.5').breaches).toHaveLength(1);
  });

  test('nor does one that has failed and may not say on what, once its update is ended', () => {
    const reduced = { current_state: 'ErrorReset', crash_count: 1 };
    const failed = fleet().after(2).shadow('n1', { status: reduced }, AGENT);
    expect(failed.start('n2').breaches).toHaveLength(1);
    const ended = fleet().after(2).shadow('n1', { status: reduced }, AGENT).shadow('n1', { state: 'Idle' });
    expect(ended.after(2).start('n2').breaches).toEqual([]);
  });
});

describe('reach', () => {
  const releases = [
    { version: '1.0.0', from: 0 },
    { version: '1.1.0', from: 0, bad: 'does-not-boot' },
  ] as const;
  const fleet = (): Story => new Story(reach, { controller: ONE, releases }).fleet('n1', 'n2').start('n1').start('n2');
  const down = { kind: 'down', asked: true } as const;

  test('a node whose family is not known at first counts once it is', () => {
    const half = { MAX_FAILED_UPDATE: '50%', MAX_CONCURRENT_UPDATE: '5' };
    const story = new Story(reach, { controller: half, releases }).fleet('n1', 'n2', 'n3', 'n4');
    story.node('n5', { labels: { 'kubernetes.io/arch': 'arm64' } }).node('n5', { labels: {} });
    for (const name of ['n1', 'n2', 'n3']) story.start(name).host(name, down);
    expect(story.breaches).toEqual([]);
    expect(story.start('n4').host('n4', down).breaches).toHaveLength(1);
  });

  test('a second node goes down for a release that does not boot', () => {
    expect(fleet().host('n1', down).host('n1', down).breaches).toEqual([]);
    expect(fleet().host('n1', down).host('n2', down).breaches).toEqual([
      '2 nodes went down for 1.1.0, which is bad, and 1 may',
    ]);
  });

  test('where the failure of the first was forgotten with its shadow, another may try', () => {
    expect(fleet().host('n1', down).shadowGone('n1', 'person').host('n2', down).breaches).toEqual([]);
  });

  test('those that failed on it before may all try again under a new policy, and no other', () => {
    const story = fleet().fleet('n3').shadow('n1', { status: FAILED }, AGENT).shadow('n2', { status: FAILED }, AGENT);
    story.policy('one', { nodeSelector: {} });
    for (const name of ['n1', 'n2']) story.shadow(name, { state: 'Idle' }).start(name).host(name, down);
    expect(story.breaches).toEqual([]);
    expect(story.start('n3').host('n3', down).breaches).toHaveLength(1);
  });

  test('machines that die are none of it', () => {
    expect(fleet().host('n1', down).host('n2', { kind: 'down', asked: false }).breaches).toEqual([]);
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

  test('a host that goes down by itself tries what is activated', () => {
    const fallsBack = (...actions: readonly string[]): readonly string[] => {
      const told = actions.reduce((story, action) => story.call('n1', action), started());
      const back = told
        .host('n1', { kind: 'down', asked: false })
        .host('n1', { kind: 'up', bootId: 'b2', version: '1.0.0' });
      return fails(back, 'BootFailed');
    };
    expect(fallsBack('prepare-update', 'activate-update')).toEqual([]);
    expect(fallsBack('prepare-update')).toHaveLength(1);
    expect(fallsBack('activate-update', 'deactivate-update')).toHaveLength(1);
    expect(fallsBack('activate-update', 'prepare-update')).toHaveLength(1);
  });

  test('a download that failed had begun', () => {
    expect(fails(started().call('n1', 'prepare-update', 500), 'PrepareFailed')).toHaveLength(1);
    expect(fails(started().call('n1', 'prepare-update', 'none'), 'PrepareFailed')).toEqual([]);
    expect(
      fails(started().call('n1', 'prepare-update').start('n1', { version: '1.1.1' }), 'PrepareFailed', ['1.1.1']),
    ).toHaveLength(1);
  });

  test('what no release is to blame for blames none, and none but the one that was to be installed', () => {
    expect(fails(started(), 'DrainFailed')).toEqual(['n1 blames 1.1.0 for DrainFailed']);
    expect(fails(started().call('n1', 'prepare-update'), 'PrepareFailed', ['1.2.0'])).toHaveLength(1);
    expect(fails(started(), 'DrainFailed', [])).toEqual([]);
  });

  test('a node that nobody asked to reboot cannot fail to return', () => {
    const record = (requested: string | null) => ({ boot_id: 'b', version: '1.1.0', requested_at: requested });
    const lost = (requested: string | null): readonly string[] =>
      started()
        .shadow('n1', { status: { reboot: record(requested) } }, AGENT)
        .after(15)
        .shadow('n1', { verdict: 'NotReturned' }).breaches;
    expect(lost(null)).toEqual(['n1 is said not to have returned, and nobody asked it to reboot']);
    expect(lost('2026-03-02T00:00:00Z')).toEqual([]);
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

  test('a controller whose clock goes from behind to ahead counts as much more, and no more', () => {
    const reboot = { boot_id: 'b', version: '1.1.0', requested_at: '2026-03-01T00:00:00Z' };
    const jumps = { kind: 'fault', id: 1, name: 'clock-jumps', phase: 'begins' } as const;
    const lost = (minutes: number): readonly string[] =>
      started()
        .tell({ ...jumps, about: 'controller-0, off by -120 s' })
        .shadow('n1', { status: { reboot } }, AGENT)
        .after(minutes)
        .shadow('n1', { verdict: 'NotReturned' }).breaches;
    expect(lost(12)).toEqual([]);
    expect(lost(10)).toHaveLength(1);
  });
});
