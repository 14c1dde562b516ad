import { describe, expect, test } from '@jest/globals';
import { isWindowOpen } from './settings.ts';
import { held, managed, offered, paused, ready, windows } from './starts.ts';
import { Story } from './story.ts';

const DISTURBED = { state: 'RebootedIntoUpdate', version: '1.1.0' };

describe('paused', () => {
  const pausedFor = (minutes: number): Story => new Story(paused).fleet('n1').pause(true).after(minutes);

  test('a start under a pause', () => {
    expect(pausedFor(2).start('n1').breaches).toEqual(['controller-0 started n1 under a pause']);
    expect(pausedFor(2).pause(false).start('n1').breaches).toEqual([]);
  });

  test('a start that was under way, or whose author could not yet know', () => {
    expect(pausedFor(2).start('n1', { sent: 180_000 }).breaches).toEqual([]);
    expect(pausedFor(0.5).start('n1').breaches).toEqual([]);
  });

  test('a drain that begins under a pause; one that has begun goes on', () => {
    const staged = new Story(paused).fleet('n1').start('n1').pause(true).after(2);
    expect(staged.shadow('n1', DISTURBED).breaches).toEqual(['controller-0 let the drain begin of n1 under a pause']);
    const drained = new Story(paused).fleet('n1').start('n1').shadow('n1', DISTURBED).pause(true).after(2);
    expect(drained.shadow('n1', { state: 'MonitoringUpdate' }).breaches).toEqual([]);
  });

  test('who sees nothing cannot know: while watches are silent, and for a while after', () => {
    const faults = [{ id: 7, kind: 'watch-mute', when: { kind: 'at', at: 0 }, forMs: 600_000, dice: 1 }] as const;
    const mute = { kind: 'fault', id: 7, name: 'watch-mute', about: 'controller-0', phase: 'begins' } as const;
    const silent = (minutes: number): Story =>
      new Story(paused, { faults }).fleet('n1').tell(mute).after(1).pause(true).after(minutes).start('n1');
    expect(silent(3).breaches).toEqual([]);
    expect(silent(5).breaches).toHaveLength(1);
    expect(new Story(paused).fleet('n1').pause(true).after(3).tell(mute).start('n1').breaches).toHaveLength(1);
  });
});

test('held: a node under the hold annotation starts nothing', () => {
  const story = (): Story => new Story(held).fleet('n1').node('n1', { held: true }, { by: 'person' });
  expect(story().after(2).start('n1').breaches).toEqual(['controller-0 started n1 although it is held']);
  expect(story().start('n1').breaches).toEqual([]);
});

test('ready: nor does one that is not Ready', () => {
  const story = (): Story => new Story(ready).fleet('n1').node('n1', { ready: false });
  expect(story().after(2).start('n1').breaches).toHaveLength(1);
  expect(story().after(2).node('n1', { ready: true }).start('n1').breaches).toEqual([]);
});

test('managed: nor one that has lost its label', () => {
  const story = (): Story => new Story(managed).fleet('n1').node('n1', { managed: false }, { by: 'person' });
  expect(story().after(2).start('n1').breaches).toHaveLength(1);
  expect(story().start('n1').breaches).toEqual([]);
});

describe('windows', () => {
  const night = { UPDATE_WINDOW_START: '02:00:00', UPDATE_WINDOW_STOP: '03:00:00' };
  const at = (minutes: number): Story => new Story(windows, { controller: night }).fleet('n1').after(minutes);

  test('a start outside of the window', () => {
    expect(at(60).start('n1').breaches).toEqual(['controller-0 started n1 outside of the window']);
    expect(at(150).start('n1').breaches).toEqual([]);
  });

  test('one that was sent within it, and whatever goes on after it', () => {
    expect(at(185).start('n1', { sent: 600_000 }).breaches).toEqual([]);
    expect(at(150).start('n1').after(60).shadow('n1', DISTURBED).breaches).toEqual([]);
  });

  test('one by a clock that is off', () => {
    const fault = { kind: 'fault', id: 1, name: 'clock-jumps', phase: 'begins' } as const;
    const early = (about: string): Story =>
      at(110)
        .tell({ ...fault, about })
        .start('n1');
    expect(early('controller-0, off by 900 s').breaches).toEqual([]);
    expect(early('controller-1, off by 900 s').breaches).toHaveLength(1);
  });

  test.each([
    ['* 0-39 * * * * *', 'UTC', '2026-03-02T05:39:59Z', true],
    ['* 0-39 * * * * *', 'UTC', '2026-03-02T05:40:00Z', false],
    ['* * */2 * * * *', 'Europe/Berlin', '2026-03-02T05:10:00Z', true],
    ['* * */2 * * * *', 'Europe/Berlin', '2026-03-02T04:10:00Z', false],
    ['* * 1-3,22 * * 2 *', 'UTC', '2026-03-02T22:10:00Z', true],
    ['* * 1-3,22 * * 2 *', 'UTC', '2026-03-03T22:10:00Z', false],
  ])('%s in %s at %s', (cron, zone, time, isOpen) => {
    expect(isWindowOpen(cron, zone, Date.parse(time))).toBe(isOpen);
  });
});

test('offered: a start on a version that the host is not offered', () => {
  expect(new Story(offered).fleet('n1').start('n1', { version: '1.2.0' }).breaches).toHaveLength(1);
  expect(new Story(offered).fleet('n1').start('n1').breaches).toEqual([]);
});
