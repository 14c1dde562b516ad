/** Answers whether an instant has come, and remembers the nearest one that has not: that is when to look again. */
export class Alarm {
  readonly now: number;
  #next = Infinity;

  /** @param now milliseconds since the Unix epoch */
  constructor(now: number) {
    this.now = now;
  }

  /** @param instant milliseconds since the Unix epoch; what is no number never comes, and nobody wakes for it */
  reached(instant: number): boolean {
    if (instant <= this.now) return true;
    if (instant < this.#next) this.#next = instant;
    return false;
  }

  /** The nearest instant ahead that somebody asked for; undefined where time alone changes nothing. */
  get next(): number | undefined {
    return this.#next === Infinity ? undefined : this.#next;
  }
}
