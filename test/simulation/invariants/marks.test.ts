import { describe, expect, test } from '@jest/globals';
import { drains, released } from './marks.ts';
import { MARKED, PROVEN, Story } from './story.ts';

const WANTED = { state: 'RebootedIntoUpdate', version: '1.1.0' };
const STAGED = { current_state: 'StagedAndPerformedUpdate' };
const DRAIN = { drain: { started_at: '2026-03-02T00:00:00Z' } };
const BY = { by: 'apiserver-0' } as const;

describe('drains', () => {
  const wanted = (): Story =>
    new Story(drains)
      .fleet('n1')
      .node('n1', { boot: 'a' })
      .start('n1')
      .shadow('n1', { status: STAGED }, BY)
      .shadow('n1', WANTED)
      .after(5);

  test('a drain that is written to the shadow before the cordon', () => {
    expect(
      wanted().shadow('n1', { status: DRAIN }, BY).node('n1', { cordoned: true, marks: MARKED }, BY).breaches,
    ).toEqual([]);
    expect(wanted().node('n1', { cordoned: true, marks: MARKED }, BY).breaches).toEqual([
      'apiserver-0 cordoned n1 before its shadow told of a drain',
    ]);
  });

  test('one that nobody wants, or no more', () => {
    const idle = new Story(drains).fleet('n1').after(5).shadow('n1', { status: DRAIN }, BY);
    expect(idle.breaches).toEqual(['apiserver-0 began a drain of n1, which is wanted in Idle']);
    const failed = wanted().shadow('n1', { status: { current_state: 'ErrorReset' } }, BY);
    expect(failed.shadow('n1', { status: DRAIN }, BY).breaches).toHaveLength(1);
  });

  test('one of a node that is back from its reboot', () => {
    const asked = { reboot: { boot_id: 'a', version: '1.1.0', requested_at: '2026-03-02T00:00:00Z' } };
    const back = (): Story => wanted().shadow('n1', { status: asked }, BY).node('n1', { boot: 'b' });
    expect(back().after(5).shadow('n1', { status: DRAIN }, BY).breaches).toHaveLength(1);
    expect(wanted().shadow('n1', { status: asked }, BY).shadow('n1', { status: DRAIN }, BY).breaches).toEqual([]);
    // It has read the Node, stood still, and read the shadow.
    const goesOn = { kind: 'fault', id: 1, name: 'freeze', phase: 'ends' } as const;
    const thawed = (about: string): Story =>
      back()
        .after(5)
        .tell({ ...goesOn, about });
    expect(thawed('apiserver-0').shadow('n1', { status: DRAIN }, BY).breaches).toEqual([]);
    expect(thawed('apiserver-1').shadow('n1', { status: DRAIN }, BY).breaches).toHaveLength(1);
  });

  test('a Node that is cordoned again is proven no more', () => {
    const lifted = (): Story =>
      wanted()
        .shadow('n1', { status: DRAIN }, BY)
        .node('n1', { cordoned: true, marks: PROVEN }, { by: 'person' })
        .node('n1', { cordoned: false }, { by: 'person' });
    expect(lifted().node('n1', { cordoned: true }, BY).breaches).toEqual([
      'apiserver-0 cordoned n1 again, and left it proven to be drained',
    ]);
    expect(lifted().node('n1', { cordoned: true, marks: MARKED }, BY).breaches).toEqual([]);
  });

  test('a proof by the marks of an earlier boot', () => {
    const marked = (boot: string): Story =>
      wanted()
        .shadow('n1', { status: DRAIN }, BY)
        .node('n1', { cordoned: true, marks: { ...MARKED, boot } }, BY)
        .after(5);
    expect(marked('z').node('n1', { marks: { ...PROVEN, boot: 'z' } }, BY).breaches).toHaveLength(1);
    expect(marked('a').node('n1', { marks: { ...PROVEN, boot: 'a' } }, BY).breaches).toEqual([]);
  });
});

describe('released', () => {
  const drained = (): Story =>
    new Story(released)
      .fleet('n1')
      .start('n1')
      .shadow('n1', WANTED)
      .node('n1', { cordoned: true, marks: PROVEN }, BY)
      .after(5);
  const rid = { cordoned: false, marks: null };

  test('by an apiserver before the node runs what it is wanted at', () => {
    expect(drained().node('n1', rid, BY).breaches).toEqual([
      'apiserver-0 took the marks from n1, which runs 1.0.0 and is wanted at 1.1.0',
    ]);
    expect(drained().node('n1', { version: '1.1.0' }).node('n1', rid, BY).breaches).toEqual([]);
    expect(drained().shadow('n1', { state: 'Idle', version: null }).node('n1', rid, BY).breaches).toEqual([]);
  });

  test('by a controller while the update is on', () => {
    const by = { by: 'controller-0' } as const;
    expect(drained().node('n1', rid, by).breaches).toEqual(['controller-0 took the marks from n1, whose agent runs']);
    const late = drained().shadow('n1', { state: 'Idle' }).after(2).shadow('n1', WANTED).after(1);
    expect(late.node('n1', rid, { ...by, sent: 80_000 }).breaches).toEqual([]);
    const idle = drained().shadow('n1', { state: 'Idle', version: null }).after(1).shadowGone('n1', 'person');
    expect(idle.node('n1', rid, by).breaches).toEqual([]);
    const later = idle.node('n1', { cordoned: true, marks: PROVEN }, BY).after(1);
    expect(later.node('n1', rid, by).breaches).toHaveLength(1);
    const alone = (): Story => drained().process('agent-n1', 'killed');
    expect(alone().node('n1', rid, by).breaches).toEqual([
      'controller-0 took the marks from n1, whose update has not ended',
    ]);
    expect(alone().shadow('n1', { state: 'Idle' }).node('n1', rid, by).breaches).toEqual([]);
    expect(drained().shadowGone('n1', 'person').node('n1', rid, by).breaches).toHaveLength(1);
  });
});
