import { describe, expect, test } from '@jest/globals';
import { pauses } from './policies.ts';
import { fleet, of } from './pools.ts';
import { MARKED, type Story } from './story.ts';

const PAUSING = { ...of('test'), pauseBetween: '10m' };

describe('pauses of policies', () => {
  test('from the end of an update to the next start, by a process that has seen that end', () => {
    const ended = (): Story =>
      fleet(pauses).process('controller-0', 'starts').policy('one', PAUSING).after(2).start('t1').after(5).finish('t1');
    expect(ended().after(5).start('t2').breaches).toEqual(['controller-0 started t2 in the pause of one after t1']);
    expect(ended().after(11).start('t2').breaches).toEqual([]);
    expect(ended().after(5).start('p1').breaches).toEqual([]);
    expect(ended().process('controller-0', 'starts').after(5).start('t2').breaches).toEqual([]);
  });

  test('by a process whose clock was behind at that end, and is ahead at the start', () => {
    const jumps = { kind: 'fault', id: 1, name: 'clock-jumps', phase: 'begins' } as const;
    const story = fleet(pauses)
      .process('controller-0', 'starts')
      .policy('one', PAUSING)
      .after(2)
      .tell({ ...jumps, about: 'controller-0, off by -120 s' });
    expect(story.start('t1').after(5).finish('t1').after(7).start('t2').breaches).toEqual([]);
  });

  test('not after an update whose shadow is gone, and with it what was known of the update', () => {
    const remade = fleet(pauses)
      .process('controller-0', 'starts')
      .policy('one', PAUSING)
      .after(2)
      .start('t1')
      .after(5)
      .finish('t1')
      .shadowGone('t1', 'ann')
      .shadow('t1', { status: { current_state: 'Idle' } });
    expect(remade.after(5).start('t2').breaches).toEqual([]);
  });

  test.each([
    ['by the controller', { current_state: 'StagedAndPerformedUpdate' }],
    ['by its agent', { current_state: 'ErrorReset', last_failure: { reason: 'TargetChanged' } }],
  ])('not after an update that was called off %s before its node was disturbed', (_by, status) => {
    const calledOff = (marks: object | null): Story =>
      fleet(pauses)
        .process('controller-0', 'starts')
        .policy('one', PAUSING)
        .after(2)
        .start('t1')
        .shadow('t1', { status })
        .node('t1', { marks })
        .shadow('t1', { state: 'Idle' })
        .node('t1', { marks: null })
        .shadow('t1', { status: { current_state: 'Idle' } })
        .after(5)
        .start('t2');
    expect(calledOff(null).breaches).toEqual([]);
    expect(calledOff(MARKED).breaches).toEqual(['controller-0 started t2 in the pause of one after t1']);
  });
});
