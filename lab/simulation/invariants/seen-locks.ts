import type { Entry, HostEntry, Instant } from '../types.ts';
import { at as within, isOperator, nodeOf, text } from './facts.ts';
import type { Write } from './rule.ts';

/** What a host's settings say of the version that it is to run. */
export interface SeenLock {
  readonly lock: string;
  readonly ignoresWaves: boolean;
  readonly by: 'agent' | 'hand' | 'boot';
  readonly at: Instant;
}

interface Record {
  readonly lock: string | undefined;
  readonly ignoresWaves: boolean;
}

const NO_RECORD: Record = { lock: undefined, ignoresWaves: false };

export const isLocked = (seen: SeenLock | undefined): boolean =>
  seen !== undefined && (seen.lock !== 'latest' || seen.ignoresWaves);

/** By name of the node: how its host is locked, what its shadow has on record of that, and whether anything is wished. */
export class SeenLocks {
  readonly #hosts = new Map<string, SeenLock>();
  readonly #records = new Map<string, Record>();
  readonly #wished = new Set<string>();
  /** What somebody has taken out of the cluster, and when: what the agent has set, or is about to, then looks like the owner's (U7, U9). */
  readonly #lost = new Map<string, { readonly record: Record; readonly at: Instant }>();

  of(node: string): SeenLock | undefined {
    return this.#hosts.get(node);
  }

  /** What is on record, and what was until somebody has taken it away since then. */
  recordsOf(node: string, since: Instant): readonly Record[] {
    const { record, at = -Infinity } = this.#lost.get(node) ?? {};
    return [this.#recordOf(node), ...(record && at >= since ? [record] : [])];
  }

  #recordOf(node: string): Record {
    return this.#records.get(node) ?? NO_RECORD;
  }

  isWished(node: string): boolean {
    return this.#wished.has(node);
  }

  isLost(node: string): boolean {
    return this.#lost.has(node);
  }

  see(entry: Entry): void {
    if (entry.kind === 'host') this.#settings(entry.node, entry.event, entry.at);
    else if (entry.kind === 'write' && entry.resource === 'bottlerocketshadows') this.#shadow(entry);
  }

  #settings(node: string, event: HostEntry['event'], at: Instant): void {
    if (event.kind !== 'settings') return;
    const { lock, ignoresWaves, by } = event;
    const seen = { lock, ignoresWaves, by, at };
    this.#hosts.set(node, seen);
    if (!isLocked(seen) || isSame(this.#recordOf(node), seen)) this.#lost.delete(node);
  }

  #shadow({ name, by, after, at }: Write): void {
    const node = nodeOf(name);
    const before = this.#recordOf(node);
    const ours = within(after, 'status', 'version_wish', 'ours');
    const record = { lock: text(within(ours, 'version_lock')), ignoresWaves: within(ours, 'ignore_waves') === true };
    this.#records.set(node, record);
    if (isMore(before, record) && !(isOperator(by) && after)) this.#lost.set(node, { record: before, at });
    if (within(after, 'spec', 'version_wish') == null) this.#wished.delete(node);
    else this.#wished.add(node);
  }
}

const isSame = (record: Record, { lock, ignoresWaves }: SeenLock): boolean =>
  (record.lock ?? 'latest') === lock && record.ignoresWaves === ignoresWaves;

const isMore = (a: Record, b: Record): boolean =>
  (a.lock !== undefined && a.lock !== b.lock) || (a.ignoresWaves && !b.ignoresWaves);
