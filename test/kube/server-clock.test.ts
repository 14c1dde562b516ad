import { expect, test } from '@jest/globals';
import { serverTime } from '../../runtime/kube/server-clock.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

/**
 * How far this machine's clock is taken to be ahead of an API server's.
 * @param aheadMs how far it is
 * @param takesMs how long an answer is on its way
 */
async function taken(aheadMs: number, takesMs = 0): Promise<number> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00.400Z'));
  const transport: KubeTransport = {
    async request({ onDate }) {
      const made = clock.now() - aheadMs;
      await clock.sleep(takesMs);
      onDate?.(Math.floor(made / 1000) * 1000);
      return {};
    },
    async *watch() {},
  };
  const server = serverTime(transport, clock);
  await clock.advanceUntil(server.transport.request({ method: 'GET', path: '/version' }), takesMs);
  return clock.now() - server.clock.now();
}

test.each([-300, 0, 300])('a clock that is %d ms ahead may be right for all that is known', async (ms) => {
  expect(Math.abs(await taken(ms))).toBeLessThan(1000);
});

test.each([-86_400_000, -10_000, 10_000, 86_400_000])(
  'one that is %d ms ahead is corrected to a second',
  async (ms) => {
    expect(Math.abs((await taken(ms)) - ms)).toBeLessThanOrEqual(1000);
  },
);

test('an answer that was long on its way corrects nothing that may be right', async () => {
  expect(await taken(0, 20_000)).toBe(0);
});
