/** Answers whether an instant has come, and remembers the nearest one that has not: that is when to look again. */
export class Alarm {
  readonly now: number;
  #next = Infinity;

  /** @param now milliseconds since the Unix epoch */
  constructor(now: number) {
    this.now = now;
  }

  /** An instant that is no number, because a time in the cluster cannot be read, has come: nobody waits for it, nor wakes in vain. */
  reached(instant: number): boolean {
    if (!(this.now < instant)) return true;
    this.#next = Math.min(this.#next, instant);
    return false;
  }

  /** The nearest instant ahead that somebody asked for; undefined where time alone changes nothing. */
  get next(): number | undefined {
    return this.#next === Infinity ? undefined : this.#next;
  }
}
