import type { Random } from '../../runtime/lib/random.ts';
import type { TrueTime } from './clock.ts';

/** One way, milliseconds: usually, and now and then. */
const USUAL_MS = 10;
const RARE = 0.02;
const RARE_MS = 250;
/** For so long a kernel goes on to send for a socket that its process has closed. */
const ORPHAN_MS = 100_000;

interface Cut {
  count: number;
  healed: (() => void)[];
}

/** How long what is sent is under way between two parties, and whether it gets through. */
export class Lines {
  readonly #time: TrueTime;
  readonly #random: Random;
  readonly #cuts = new Map<string, Cut>();
  readonly #slow = new Map<string, number[]>();

  constructor(time: TrueTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /** No bytes pass between the two until what is returned is called; connections break only when timeouts say so. */
  cut(a: string, b: string): () => void {
    const key = keyOf(a, b);
    const cut = this.#cuts.get(key) ?? { count: 0, healed: [] };
    cut.count += 1;
    this.#cuts.set(key, cut);
    return once(() => {
      cut.count -= 1;
      if (cut.count > 0) return;
      this.#cuts.delete(key);
      for (const go of cut.healed) go();
    });
  }

  /** All that the party sends or gets takes up to this much longer. */
  slow(party: string, ms: number): () => void {
    const all = this.#slow.get(party) ?? [];
    all.push(ms);
    this.#slow.set(party, all);
    return once(() => {
      all.splice(all.indexOf(ms), 1);
      if (all.length === 0) this.#slow.delete(party);
    });
  }

  isCut(a: string, b: string): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(keyOf(a, b));
  }

  /** Calls it when bytes pass again. */
  onHealed(a: string, b: string, go: () => void): void {
    const cut = this.#cuts.get(keyOf(a, b));
    if (cut) cut.healed.push(go);
    else go();
  }

  /** How long something takes one way, milliseconds. */
  latency(a: string, b: string): number {
    const random = this.#random;
    const usual = random() < RARE ? RARE_MS * random() : 1 + USUAL_MS * random();
    if (this.#slow.size === 0) return usual;
    const slow = [...(this.#slow.get(a) ?? []), ...(this.#slow.get(b) ?? [])];
    return slow.reduce((sum, ms) => sum + ms * random(), usual);
  }

  /**
   * Resolves when it has got through: true, or false where it never will. What is under way when a line is cut is sent again until it heals;
   * where its sender has gone meanwhile, perhaps.
   */
  async pass(a: string, b: string, isGone: () => boolean = () => false): Promise<boolean> {
    const sentAt = this.#time.monotonic();
    await this.#time.sleep(this.latency(a, b));
    while (this.isCut(a, b)) {
      await new Promise<void>((resolve) => this.onHealed(a, b, resolve));
      if (isGone() && (this.#time.monotonic() > sentAt + ORPHAN_MS || this.#random() < 0.5)) return false;
      await this.#time.sleep(this.latency(a, b));
    }
    return true;
  }
}

const keyOf = (a: string, b: string): string => (a < b ? `${a}|${b}` : `${b}|${a}`);

/** Does it the first time that it is called. */
export function once(happen: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    happen();
  };
}
