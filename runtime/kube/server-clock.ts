import type { Clock } from '../lib/clock.ts';
import type { KubeTransport } from './transport.ts';

interface ServerTime {
  readonly transport: KubeTransport;
  /** Its wall clock is the API server's, as the transport's answers tell it. Until the first one it is this machine's. */
  readonly clock: Clock;
}

/** A `Date` has whole seconds. */
const PRECISION_MS = 1_000;

/**
 * Takes the time from the API server's answers, so that all replicas judge by one clock, whatever those of their machines say. An answer was
 * made after its request was sent and before it came: only where the machine's clock cannot be right by that is it corrected, and no more than
 * it has to be.
 */
export function serverTime(transport: KubeTransport, clock: Clock): ServerTime {
  let aheadMs = 0;
  const correct = (sentAt: number, date: number): void => {
    aheadMs = Math.min(Math.max(aheadMs, sentAt - date - PRECISION_MS), clock.now() - date);
  };
  return {
    transport: {
      request(request) {
        const sentAt = clock.now();
        return transport.request({ ...request, onDate: (date) => correct(sentAt, date) });
      },
      watch: (watch) => transport.watch(watch),
    },
    clock: {
      now: () => clock.now() - aheadMs,
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
  };
}
