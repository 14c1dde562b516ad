import type { EventPort, EventRecord } from '../kube/events.ts';
import { unlessAborted } from '../lib/abort.ts';
import type { Clock } from '../lib/clock.ts';
import { Wakeup } from './wakeup.ts';

/** At most 10 Events a second, however large the fleet: updates have the API server first. */
const PACE_MS = 100;
/** Events that wait at most, a few MB of them; one more is not told. */
const CAPACITY = 10_000;

interface Waiting {
  readonly event: EventRecord;
  readonly settle: (isWritten: boolean) => void;
}

/** Writes Events one after the other, at its own pace beside everything else. */
export class EventQueue implements EventPort {
  readonly #events: EventPort;
  readonly #clock: Clock;
  readonly #wakeup = new Wakeup();
  #waiting: Waiting[] = [];

  constructor(events: EventPort, clock: Clock) {
    this.#events = events;
    this.#clock = clock;
  }

  record(event: EventRecord): Promise<boolean> {
    if (this.#waiting.length >= CAPACITY) return Promise.resolve(false);
    const { promise, resolve: settle } = Promise.withResolvers<boolean>();
    this.#waiting.push({ event, settle });
    this.#wakeup.ring();
    return promise;
  }

  /** Until the signal aborts. What still waits then is not told. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      if (!next) {
        await this.#wakeup.wait(this.#clock, Infinity, signal);
        continue;
      }
      const written = this.#events.record(next.event);
      void written.then(next.settle);
      await unlessAborted(written, signal).catch(() => undefined);
      await this.#clock.sleep(PACE_MS, signal).catch(() => undefined);
    }
    for (const { settle } of this.#waiting.splice(0)) settle(false);
  }
}
