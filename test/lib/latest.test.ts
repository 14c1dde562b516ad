import { describe, expect, test } from '@jest/globals';
import { Latest } from '../../runtime/lib/latest.ts';

const forever = new AbortController().signal;
const isEven = (value: number): boolean => value % 2 === 0;

describe('the latest value', () => {
  test('is told to every listener before set returns, and to none that has gone', () => {
    const latest = new Latest(1);
    const heard: string[] = [];
    const stop = latest.onChange(() => heard.push(`a ${latest.value}`));
    latest.onChange(() => heard.push(`b ${latest.value}`));
    latest.set(2);
    stop();
    latest.set(3);
    expect(heard).toEqual(['a 2', 'b 2', 'b 3']);
  });

  test('resolves a wait at once where it fits already', async () => {
    expect(await new Latest(2).until(isEven, forever)).toBe(2);
  });

  test('resolves a wait with the first value that fits, whatever comes after it', async () => {
    const latest = new Latest(1);
    const waiting = latest.until(isEven, forever);
    for (const value of [3, 4, 5]) latest.set(value);
    expect(await waiting).toBe(4);
  });

  test('leaves no listener behind, neither of a wait that ended nor of one that was aborted', async () => {
    const latest = new Latest(1);
    const looks = { count: 0 };
    const counted = (value: number): boolean => ++looks.count > 0 && isEven(value);
    const ended = latest.until(counted, forever);
    const stop = new AbortController();
    const aborted = latest.until(counted, stop.signal);
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    latest.set(2);
    await ended;
    const before = looks.count;
    latest.set(4);
    expect(looks.count).toBe(before);
  });

  test('refuses a wait whose signal has aborted, also where it fits', async () => {
    await expect(new Latest(2).until(isEven, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});
