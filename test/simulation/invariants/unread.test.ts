import { expect, test } from '@jest/globals';
import { unread } from './policies.ts';
import { Story } from './story.ts';

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
