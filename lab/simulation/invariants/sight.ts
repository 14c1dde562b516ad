import type { Entry, Instant, Scenario } from '../types.ts';

type Fault = Extract<Entry, { readonly kind: 'fault' }>;

/** A fact is surely seen by whoever decides once it has stood for so long while nothing was in the way, milliseconds. */
export const SEEN_AFTER = 60_000;
/** For so long after a fault of the network a process may not have noticed that its watches are dead, or may be answered late, milliseconds. */
const LINGERS = 300_000;

/** A controller does not decide on what is older, whatever is in the way: CACHE_TIMEOUT_IN_SEC, and as long for a watch that opens late. */
const OLDEST = 240_000;

/** Faults that leave a process with an old view of the cluster, by the beginnings of their names. */
const BLINDS =
  /^(watch-|freeze|api-|proxy-|lost-|lands-|hangs|partition|outage|slow|own-token|leader-cut-off|clock|lease-|kind-unreadable)/;

/** Whether the fault leaves a process with an old view of the cluster. */
export const blinds = (fault: string): boolean => BLINDS.test(fault);

/**
 * What the operator must know. It decides on caches: a pause that lands while its watches are silent is no less of a pause, but nobody can hold
 * a start against it.
 */
export class Sight {
  readonly #lasts: ReadonlyMap<number, number>;
  #clearFrom: Instant = 0;
  /** The same, but for what only keeps controllers from deciding. */
  #reachedFrom: Instant = 0;
  /** The end of the last time that was clear for long enough. */
  #sure: Instant = -Infinity;
  readonly #clocks = new Map<string, number>();
  #machinesOffMs = 0;
  readonly #wentOnAt = new Map<string, Instant>();
  readonly #frozenAt = new Map<string, Instant>();
  /** By fault, since when controllers may not read one of the kinds on which they decide. */
  readonly #unreadable = new Map<number, Instant>();

  constructor({ faults }: Pick<Scenario, 'faults'>) {
    this.#lasts = new Map(faults.map(({ id, forMs }) => [id, forMs]));
  }

  see(entry: Entry): void {
    if (entry.kind !== 'fault') return;
    this.#noteReads(entry);
    if (entry.phase === 'ends') {
      if (entry.name.startsWith('freeze')) this.#wentOnAt.set(entry.about, entry.at);
      return;
    }
    if (entry.name.startsWith('freeze')) this.#frozenAt.set(entry.about, entry.at);
    this.#noteClock(entry.about);
    if (!blinds(entry.name)) return;
    if (entry.at - this.#clearFrom >= SEEN_AFTER) this.#sure = entry.at;
    const until = entry.at + (this.#lasts.get(entry.id) ?? 0) + LINGERS;
    this.#clearFrom = Math.max(this.#clearFrom, until);
    if (entry.name !== 'kind-unreadable' || entry.about === 'nodes')
      this.#reachedFrom = Math.max(this.#reachedFrom, until);
  }

  /** Whether nothing has been in the way of anybody's view for a while. */
  isClear(instant: Instant): boolean {
    return instant - this.#clearFrom >= SEEN_AFTER;
  }

  /** Whether who leads sees Nodes and can write them, though it may not know all that it decides on. */
  reachesNodes(instant: Instant): boolean {
    return instant - this.#reachedFrom >= SEEN_AFTER;
  }

  /** Whether a process that began then may have read all that it decides on: one that has not makes no plan at all. */
  mayHaveRead(begunAt: Instant): boolean {
    return begunAt < Math.min(...this.#unreadable.values());
  }

  /** When the process last went on after it had stood still: what it has read before, it may take for new. */
  wentOnAt(process: string): Instant {
    return this.#wentOnAt.get(process) ?? -Infinity;
  }

  /** What a process that went on lately sends may be from before it stood still: since then, or the instant itself. */
  stoodStillFrom(process: string, instant: Instant): Instant {
    const frozenAt = this.#frozenAt.get(process) ?? Infinity;
    return instant - this.wentOnAt(process) < SEEN_AFTER ? Math.min(frozenAt, instant) : instant;
  }

  /** Whether what stands since `since` was surely known to who sent a request at `sentAt`. */
  known(since: Instant, sentAt: Instant): boolean {
    const sure = sentAt - this.#clearFrom >= SEEN_AFTER ? sentAt : this.#sure;
    return since + SEEN_AFTER <= Math.min(sure, sentAt);
  }

  /** The same, where a controller disturbs a node: what it does not know to be current, it may not disturb on. */
  mustKnow(since: Instant, sentAt: Instant): boolean {
    return this.known(since, sentAt) || since + OLDEST <= sentAt;
  }

  #noteReads({ id, name, phase, at }: Fault): void {
    if (phase === 'ends') this.#unreadable.delete(id);
    else if (name === 'kind-unreadable') this.#unreadable.set(id, at);
  }

  #noteClock(about: string): void {
    const [, whose, seconds] = /^(\S+), off by (-?\d+) s/.exec(about) ?? [];
    if (whose === undefined) return;
    const offMs = Math.abs(Number(seconds)) * 1000;
    if (whose.startsWith('node-')) this.#machinesOffMs = Math.max(this.#machinesOffMs, offMs);
    else this.#clocks.set(whose, Math.max(this.#clocks.get(whose) ?? 0, offMs));
  }

  /** By how much two clocks may have differed at most, milliseconds. */
  get apartMs(): number {
    return 2 * (Math.max(0, ...this.#clocks.values()) + this.#machinesOffMs);
  }

  /** By how much the clock of a process has been off at most, milliseconds: its own, and that of the machine on which it may run. */
  clockOf(process: string): number {
    return (this.#clocks.get(process) ?? 0) + this.#machinesOffMs;
  }
}
