import { type Clock, rfc3339 } from '../../lib/clock.ts';
import type { HostStatus, HostUpdater } from '../hosts/port.ts';

interface OffersOptions {
  readonly host: HostUpdater;
  readonly clock: Clock;
  /** Milliseconds between two looks at rest. */
  readonly times: { readonly checkIntervalMs: number };
}

/** For how long an answer of the host is good at most. */
const GOOD_MS = 120_000;

/** What the host offers, and when it last said so. Each look costs the update repository a request. */
export class Offers {
  readonly #options: OffersOptions;
  #last: { readonly version: string | undefined; readonly at: number } | undefined;
  #succeededAt: string | undefined;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  /** Has the host look for updates. */
  async refresh(signal: AbortSignal): Promise<HostStatus> {
    const status = await this.#options.host.refresh(signal);
    const { clock } = this.#options;
    this.note(status.chosen?.version, clock.monotonic());
    this.#succeededAt = rfc3339(clock.now());
    return status;
  }

  /** When the host last looked with success, RFC 3339; undefined where this agent has seen none. */
  get succeededAt(): string | undefined {
    return this.#succeededAt;
  }

  /** @param at on the clock's monotonic scale */
  note(version: string | undefined, at: number): void {
    this.#last = { version, at };
  }

  /** Whether the host has offered `version` when it was last asked, which is not long ago. */
  isFresh(version: string): boolean {
    const { clock, times } = this.#options;
    const goodMs = Math.min(GOOD_MS, times.checkIntervalMs);
    return this.#last?.version === version && clock.monotonic() - this.#last.at <= goodMs;
  }
}
