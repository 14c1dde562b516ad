import type { Entry, Instant } from '../types.ts';
import { isController, LEASE, leaseOf } from './facts.ts';
import type { Write } from './rule.ts';
import type { Sight } from './sight.ts';

/**
 * Permits that somebody else than a controller has taken off the Lease. What they have allowed goes on (L12): a drain, a reboot, and a start that was
 * on its way. Where the list was taken off whole, whoever makes it anew shuts out what is on its way; one that somebody has written in its place
 * looks to the next leader like any other.
 */
export class Robbed {
  /** Since when, by UID of the node. */
  readonly #since = new Map<string, Instant>();

  see(entry: Entry): void {
    if (entry.kind === 'write' && entry.resource === 'leases' && entry.name === LEASE) this.#written(entry);
  }

  #written({ by, before, after, at }: Write): void {
    const [old, made] = [leaseOf(before), leaseOf(after)];
    const listed = new Set(made.permits.map(({ nodeUid }) => nodeUid));
    if (!isController(by)) {
      for (const { nodeUid } of old.permits) if (!listed.has(nodeUid)) this.#since.set(nodeUid, at);
    } else if (made.hasList && !old.hasList) this.#since.clear();
    for (const uid of listed) this.#since.delete(uid);
  }

  has(uid: string): boolean {
    return this.#since.has(uid);
  }

  /** Whether who sent a start of the node then may not have known that its permit is gone. */
  allowed(uid: string, sentAt: Instant, sight: Sight): boolean {
    const since = this.#since.get(uid);
    return since !== undefined && !sight.known(since, sentAt);
  }
}
