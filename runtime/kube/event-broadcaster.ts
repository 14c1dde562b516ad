import { unlessAborted } from '../lib/abort.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { Clock } from '../lib/clock.ts';
import { Wakeup } from '../lib/wakeup.ts';
import type { EventRecord, EventRecorder } from './event-recorder.ts';

/** Ten Events a second at most, however large the fleet: updates need the API server more. */
const PACE_MS = 100;
/** Events that may wait, a few MB of them. What comes on top is dropped. */
const CAPACITY = 10_000;
/** The spam filter: this many Events about one object may come at once, and one more after each REFILL_MS. */
const BURST = 10;
const REFILL_MS = 30_000;
/** Objects that the spam filter remembers. One that has been quiet for long is as good as new. */
const REMEMBERED = 2000;

interface Waiting {
  readonly event: EventRecord;
  readonly settle: (isWritten: boolean) => void;
}

interface Bucket {
  readonly left: number;
  readonly at: number;
}

/**
 * Limits the Events of a large fleet. It writes them in the background at a bounded pace. It drops Events about an object that has had many, so
 * that a flapping node fills neither the API server nor `kubectl describe`.
 */
export class EventBroadcaster implements EventRecorder {
  readonly #recorder: EventRecorder;
  readonly #clock: Clock;
  readonly #wakeup = new Wakeup();
  readonly #buckets = new BoundedMap<string, Bucket>(REMEMBERED);
  #waiting: Waiting[] = [];

  constructor(recorder: EventRecorder, clock: Clock) {
    this.#recorder = recorder;
    this.#clock = clock;
  }

  /** Writes the Event in its turn. False also where it is dropped. */
  record(event: EventRecord): Promise<boolean> {
    if (this.#waiting.length >= CAPACITY) return Promise.resolve(false);
    const { promise, resolve: settle } = Promise.withResolvers<boolean>();
    this.#waiting.push({ event, settle });
    this.#wakeup.ring();
    return promise;
  }

  /** Writes the Event before all that wait: for the few that concern the whole fleet. */
  async recordNow(event: EventRecord): Promise<boolean> {
    return this.#takeToken(event) && this.#recorder.record(event);
  }

  /** Works until the signal aborts. What still waits then is dropped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      if (!next) {
        await this.#wakeup.wait(this.#clock, Infinity, signal);
        continue;
      }
      const written = this.recordNow(next.event);
      void written.then(next.settle);
      await unlessAborted(written, signal).catch(() => undefined);
      await this.#clock.sleep(PACE_MS, signal).catch(() => undefined);
    }
    for (const { settle } of this.#waiting.splice(0)) settle(false);
  }

  /** Whether the object may have one more Event. */
  #takeToken({ regarding: { kind, namespace, name, uid } }: EventRecord): boolean {
    const key = [kind, namespace, name, uid].join('/');
    const now = this.#clock.monotonic();
    const left = tokensOf(this.#buckets.get(key), now);
    if (left < 1) return false;
    this.#buckets.set(key, { left: left - 1, at: now });
    return true;
  }
}

function tokensOf(bucket: Bucket | undefined, now: number): number {
  return bucket ? Math.min(BURST, bucket.left + (now - bucket.at) / REFILL_MS) : BURST;
}
