import { expect, test } from '@jest/globals';
import { Story } from './story.ts';
import { unread } from './unread.ts';

const faults = [
  { id: 1, kind: 'policies-unreadable', when: { kind: 'at', at: 0 }, forMs: 3_600_000, dice: 1 },
] as const;
const fault = { kind: 'fault', id: 1, name: 'policies-unreadable', about: 'everybody' } as const;
const refused = (minutes: number): Story =>
  new Story(unread, { faults })
    .fleet('n1')
    .tell({ ...fault, phase: 'begins' })
    .after(minutes);

test('nothing starts once policies could not be read for long', () => {
  expect(refused(9).start('n1').breaches).toEqual([]);
  expect(refused(12).start('n1').breaches).toHaveLength(1);
  expect(
    refused(12)
      .tell({ ...fault, phase: 'ends' })
      .start('n1').breaches,
  ).toEqual([]);
});

test('a process that has begun since then has nothing to believe', () => {
  expect(refused(1).process('controller-0', 'starts').start('n1').breaches).toHaveLength(1);
});

test('what one has sent that was killed since goes by what that one had read', () => {
  const killed = (): Story => refused(1).process('controller-0', 'killed');
  expect(killed().start('n1', { sent: 30_000 }).breaches).toEqual([]);
  expect(killed().process('controller-0', 'starts').start('n1', { sent: 30_000 }).breaches).toEqual([]);
});

test('a process whose watch lags finds out as late as that lets it', () => {
  const lag = { kind: 'fault', id: 2, name: 'watch-lags', about: 'controller-1, controller-0, by 50 s' } as const;
  const lagged = (minutes: number): Story => {
    const story = new Story(unread, { faults }).fleet('n1').tell({ ...lag, phase: 'begins' });
    story
      .tell({ ...fault, phase: 'begins' })
      .after(3)
      .tell({ ...lag, phase: 'ends' });
    return story.after(minutes).start('n1');
  };
  expect(lagged(10).breaches).toEqual([]);
  expect(lagged(12).breaches).toHaveLength(1);
});

test('a process that stood still as they could not be read any more has found out only when it went on', () => {
  const stood = (from: number, to: number): Story => {
    const freeze = { kind: 'fault', id: 2, name: 'freeze', about: 'controller-0' } as const;
    const story = new Story(unread, { faults }).fleet('n1');
    if (from < 0) story.tell({ ...freeze, phase: 'begins' });
    story.tell({ ...fault, phase: 'begins' });
    if (from >= 0) story.after(from).tell({ ...freeze, phase: 'begins' });
    return story.after(to - Math.max(from, 0)).tell({ ...freeze, phase: 'ends' });
  };
  expect(stood(-1, 6).after(10).start('n1').breaches).toEqual([]);
  expect(stood(-1, 6).after(12).start('n1').breaches).toHaveLength(1);
  expect(stood(1, 6).after(10).start('n1').breaches).toHaveLength(1);
});
