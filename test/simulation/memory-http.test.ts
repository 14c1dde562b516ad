import { expect, test } from '@jest/globals';
import { exchange } from './memory-http.ts';

test.each([
  ['while its request is handled', new AbortController()],
  ['before its request is handled', AbortSignal.abort()],
])('a server hears of a client that has hung up %s', async (_when, gone) => {
  let closed = 0;
  const handle = async (_: unknown, response: { once(event: 'close', hear: () => void): unknown }): Promise<void> => {
    response.once('close', () => (closed += 1));
    if (gone instanceof AbortController) gone.abort();
  };
  const signal = gone instanceof AbortController ? gone.signal : gone;
  void exchange(handle, { method: 'POST', path: '/', headers: {}, body: undefined }, signal);
  await Promise.resolve();
  expect(closed).toBe(1);
});
