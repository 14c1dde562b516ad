import type { AuditEntry } from './api.ts';

/** What was asked of the cluster, newest last. */
export class Audit {
  readonly #limit: number;
  readonly #listener: ((entry: AuditEntry) => void) | undefined;
  readonly entries: AuditEntry[] = [];

  /** @param limit at least so many are kept, at most twice as many */
  constructor(limit: number, listener: ((entry: AuditEntry) => void) | undefined) {
    this.#limit = limit;
    this.#listener = listener;
  }

  add(entry: AuditEntry): void {
    this.entries.push(entry);
    if (this.entries.length > 2 * this.#limit) this.entries.splice(0, this.#limit);
    this.#listener?.(entry);
  }
}
