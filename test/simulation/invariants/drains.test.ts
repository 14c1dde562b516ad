import { describe, expect, test } from '@jest/globals';
import { budgets, drainedBeforeReboot, recordBeforeReboot, volumes } from './drains.ts';
import { MARKED, PROVEN, Story, timeAt } from './story.ts';

const APISERVER = { by: 'apiserver-0' };
const PERSON = { by: 'person' };

describe('drained-before-reboot', () => {
  const drained = (): Story =>
    new Story(drainedBeforeReboot)
      .fleet('n1')
      .after(10)
      .node('n1', { cordoned: true, marks: MARKED }, APISERVER)
      .after(5)
      .node('n1', { marks: PROVEN }, APISERVER);

  test('a reboot without a proof, or after the marks are gone', () => {
    expect(new Story(drainedBeforeReboot).fleet('n1').call('n1', 'reboot').breaches).toHaveLength(1);
    expect(drained().call('n1', 'reboot').breaches).toEqual([]);
    const released = drained().node('n1', { marks: null, cordoned: false }, { by: 'controller-0' });
    expect(released.call('n1', 'reboot').breaches).toHaveLength(1);
  });

  test('a reboot that the host refuses is none', () => {
    expect(new Story(drainedBeforeReboot).fleet('n1').call('n1', 'reboot', 500).breaches).toEqual([]);
  });

  test('the proof of a node that was replaced since', () => {
    const story = drained().nodeGone('n1').node('n1', { marks: null });
    expect(story.call('n1', 'reboot').breaches).toHaveLength(1);
  });

  const withPod = (pod: object, afterCordon: boolean): readonly string[] => {
    const story = new Story(drainedBeforeReboot).fleet('n1');
    if (!afterCordon) story.pod('web', { node: 'n1', ...pod });
    story.after(10).node('n1', { cordoned: true, marks: MARKED }, APISERVER).after(5);
    if (afterCordon) story.pod('web', { node: 'n1', ...pod });
    return story.after(5).node('n1', { marks: PROVEN }, APISERVER).call('n1', 'reboot').breaches;
  };

  test('a pod that was there before the proof', () => {
    expect(withPod({}, false)).toEqual(['n1 was asked to reboot under /web, there since 00:00:00.005']);
    expect(withPod({}, true)).toHaveLength(1);
    expect(withPod({ tolerates: true }, false)).toHaveLength(1);
  });

  test('a pod that stays: of a DaemonSet, finished, or come after the cordon that it tolerates', () => {
    expect(withPod({ owner: 'DaemonSet' }, false)).toEqual([]);
    expect(withPod({ phase: 'Succeeded' }, false)).toEqual([]);
    expect(withPod({ tolerates: true }, true)).toEqual([]);
  });

  test('a pod that should have ended, for as long as it is waited for', () => {
    const withDue = (due: string): readonly string[] => {
      const story = new Story(drainedBeforeReboot).fleet('n1').pod('web', { node: 'n1', due });
      story.after(10).node('n1', { cordoned: true, marks: MARKED }, APISERVER);
      return story.node('n1', { marks: PROVEN }, APISERVER).call('n1', 'reboot').breaches;
    };
    expect(withDue(timeAt(4))).toEqual([]);
    expect(withDue(timeAt(6))).toHaveLength(1);
    // Nobody has told it to end: the node was not Ready then.
    expect(withDue(timeAt(-60))).toHaveLength(1);
  });

  test('a pod that came while the proof was being written, or because somebody uncordoned the node', () => {
    expect(drained().pod('web', { node: 'n1' }).call('n1', 'reboot').breaches).toEqual([]);
    const lifted = drained()
      .node('n1', { cordoned: false }, PERSON)
      .node('n1', { cordoned: true, marks: MARKED }, APISERVER);
    expect(lifted.call('n1', 'reboot').breaches).toEqual([]);
  });
});

describe('budgets', () => {
  const WEB = { node: 'n1', labels: { app: 'web' } };
  const guarded = (): Story => new Story(budgets).budget('web', 1).pod('web', WEB);
  const EVICTION = { by: 'apiserver-0', subresource: 'eviction' };

  test('a pod that is deleted, and not evicted', () => {
    expect(guarded().podGone('web', APISERVER).breaches).toHaveLength(1);
    expect(guarded().podGone('web', PERSON).breaches).toEqual([]);
  });

  test('an eviction that no budget was charged with', () => {
    expect(guarded().podGone('web', EVICTION).breaches).toHaveLength(1);
    expect(new Story(budgets).pod('web', WEB).podGone('web', EVICTION).breaches).toEqual([]);
    expect(
      new Story(budgets)
        .budget('web', 0)
        .pod('web', { ...WEB, ready: false })
        .podGone('web', EVICTION).breaches,
    ).toEqual([]);
  });
});

describe('record-before-reboot', () => {
  const recorded = (boot: string, requested: string | null): Story =>
    new Story(recordBeforeReboot)
      .fleet('n1')
      .shadow('n1', { status: { reboot: { boot_id: boot, version: '1.1.0', requested_at: requested } } }, APISERVER);
  const NOW = '2026-03-02T00:00:00Z';

  test('a reboot without a record, with a probe alone, or with the record of another boot', () => {
    expect(new Story(recordBeforeReboot).fleet('n1').call('n1', 'reboot').breaches).toHaveLength(1);
    expect(recorded('boot of n1', null).call('n1', 'reboot').breaches).toHaveLength(1);
    expect(recorded('another', NOW).call('n1', 'reboot').breaches).toHaveLength(1);
    expect(recorded('boot of n1', NOW).call('n1', 'reboot').breaches).toEqual([]);
  });

  test("the older operator's agent keeps none", () => {
    const older = new Story(recordBeforeReboot).fleet('n1').process('upstream-agent-n1', 'starts');
    expect(older.call('n1', 'reboot').breaches).toEqual([]);
  });
});

describe('volumes', () => {
  const IN_USE = ['kubernetes.io/csi/ebs.csi.aws.com^vol-1'];
  const proven = (volumesInUse: readonly string[], volumesSince?: string): readonly string[] => {
    const marks = { ...MARKED, ...(volumesSince !== undefined && { volumesSince }) };
    const story = new Story(volumes).fleet('n1').node('n1', { cordoned: true, marks, volumesInUse }, APISERVER);
    return story.after(2).node('n1', { marks: { ...marks, ...PROVEN } }, APISERVER).breaches;
  };

  test('a node is proven to be drained with a volume in use that nobody has waited for', () => {
    expect(proven(IN_USE)).toHaveLength(1);
    expect(proven(IN_USE, timeAt(0.5))).toHaveLength(1);
    expect(proven([])).toEqual([]);
  });

  test('one that has been waited for as long as the settings say stays behind', () => {
    expect(proven(IN_USE, timeAt(0))).toEqual([]);
  });
});
