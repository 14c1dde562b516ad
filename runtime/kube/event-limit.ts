import type { Clock } from '../lib/clock.ts';
import type { EventPort, EventRecord } from './events.ts';

/** Events about one object that may come at once, and the pace at which more may follow. */
const BURST = 10;
const REFILL_MS = 30_000;
/** Objects that are remembered; one that has been quiet for long is as good as new. */
const REMEMBERED = 2000;

interface Bucket {
  readonly left: number;
  readonly at: number;
}

/** Lets no object have more than a few Events in a short time: what flaps fills neither the API server nor `kubectl describe`. */
export function limitedEvents(events: EventPort, clock: Clock): EventPort {
  const buckets = new Map<string, Bucket>();
  return {
    async record(event) {
      const key = keyOf(event);
      const left = tokensOf(buckets.get(key), clock.monotonic());
      if (left < 1) return false;
      buckets.delete(key);
      buckets.set(key, { left: left - 1, at: clock.monotonic() });
      const [oldest] = buckets.keys();
      if (buckets.size > REMEMBERED && oldest !== undefined) buckets.delete(oldest);
      return events.record(event);
    },
  };
}

function keyOf({ regarding: { kind, namespace, name, uid } }: EventRecord): string {
  return [kind, namespace, name, uid].join('/');
}

function tokensOf(bucket: Bucket | undefined, now: number): number {
  return bucket ? Math.min(BURST, bucket.left + (now - bucket.at) / REFILL_MS) : BURST;
}
