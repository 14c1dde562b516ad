import { expect, test } from '@jest/globals';
import { Story } from './story.ts';
import { current } from './current.ts';

/** A controller that has read policies, or tried to. */
const read = (story: Story, code: number, verb = 'list', resource = 'bottlerocketupdatepolicies'): Story =>
  story.tell({
    kind: 'request',
    by: 'controller-0',
    verb,
    resource,
    code,
    isVain: false,
  });
const known = (): Story => read(new Story(current).process('controller-0', 'starts').fleet('n1'), 200);
const refused = (minutes: number): Story => read(known(), 403, 'watch').after(minutes);

test('nothing starts once anything could not be read for long', () => {
  const lost = (): Story => read(known(), 200, 'list', 'nodes');
  expect(read(lost(), 403, 'watch', 'nodes').after(3).start('n1').breaches).toHaveLength(1);
  expect(refused(1).start('n1').breaches).toEqual([]);
  expect(refused(3).start('n1').breaches).toHaveLength(1);
  expect(read(refused(2), 403).after(2).start('n1').breaches).toHaveLength(1);
  expect(read(refused(3), 200).start('n1').breaches).toEqual([]);
  expect(known().after(3).start('n1').breaches).toEqual([]);
});

test('a kind that is not there is no refusal', () => {
  const absent = (): Story => read(new Story(current).process('controller-0', 'starts').fleet('n1'), 404);
  expect(absent().after(3).start('n1').breaches).toEqual([]);
  expect(read(absent(), 403).after(1).start('n1').breaches).toEqual([]);
  expect(read(absent(), 403).after(3).start('n1').breaches).toHaveLength(1);
});

test('a process that has begun since then has nothing to believe', () => {
  const anew = (): Story => refused(1).process('controller-0', 'killed').process('controller-0', 'starts');
  expect(read(anew(), 403).start('n1').breaches).toHaveLength(1);
});

test('what one has sent that was killed since goes by what that one had read', () => {
  const killed = (): Story => refused(1).process('controller-0', 'killed');
  expect(killed().start('n1', { sent: 30_000 }).breaches).toEqual([]);
  expect(killed().process('controller-0', 'starts').start('n1', { sent: 30_000 }).breaches).toEqual([]);
});
