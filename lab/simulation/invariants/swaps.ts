import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Entry, Instant, RequestEntry } from '../types.ts';
import { isApiserver, isOperator, LEASE, leaseOf } from './facts.ts';
import { startIn } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';
import type { Sight } from './sight.ts';
import { proofSetBy } from './seen-node.ts';

type Accepted = RequestEntry & { readonly name: string };

/** What a rule writes is written on what was read, and keeps others from writing on what was there before it. */
export const swaps: Rule = {
  name: 'swaps',
  begin: ({ sight }) => {
    const refused = new Refused();
    return { see: (entry) => [...refused.see(entry), ...blind(entry, sight)] };
  },
};

function blind(entry: Entry, sight: Sight): readonly string[] {
  if (entry.kind !== 'request' || !isAccepted(entry)) return NOTHING;
  const what = `${entry.by} wrote ${entry.resource} ${entry.name}`;
  if (isSwap(entry) && entry.version === undefined) return [`${what}, whatever it had become`];
  // A renewal by a clock that was set back may name the same time again.
  // A status that an agent sends again because it has not seen it yet keeps nobody from anything.
  const isFence = isSwap(entry) && entry.subresource === undefined;
  const isRenewal = entry.resource === 'leases' && sight.clockOf(entry.by) > 0;
  return isFence && !isRenewal && entry.isVain ? [`${what} as it was: that keeps nobody from it`] : NOTHING;
}

/** L2: after a 409 a shadow is written on what is planned anew, so that no update starts there without another swap of the list. */
class Refused {
  /** By who wrote, and name of the shadow, since when. */
  readonly #since = new Map<string, Map<string, Instant>>();

  see(entry: Entry): readonly string[] {
    if (entry.kind === 'request') this.#answered(entry);
    if (entry.kind !== 'write') return NOTHING;
    const { by, resource, name, before, after, sentAt } = entry;
    if (resource === 'leases' && leaseOf(before).permitsText !== leaseOf(after).permitsText) this.#since.delete(by);
    const since = this.#since.get(by)?.get(name) ?? Infinity;
    return startIn(entry) && since < sentAt ? [`${by} starts ${name} again after 409, with no swap between`] : NOTHING;
  }

  #answered({ at, by, resource, name, subresource, code }: Extract<Entry, RequestEntry>): void {
    const isRefused = resource === 'bottlerocketshadows' && subresource === undefined && code === 409;
    if (isRefused && name !== undefined) getOrInsert(this.#since, by, () => new Map()).set(name, at);
  }
}

const isAccepted = (entry: RequestEntry): entry is Accepted =>
  (entry.verb === 'update' || entry.verb === 'patch') &&
  entry.code < 300 &&
  entry.name !== undefined &&
  isOperator(entry.by);

function isSwap({ by, resource, name, subresource }: Accepted): boolean {
  if (resource === 'bottlerocketshadows') return subresource === undefined || isApiserver(by);
  return resource === 'nodes' || (resource === 'leases' && name === LEASE);
}

/** M3: a replica that proves a Node to be drained has listed its pods since anybody last changed that Node. */
export const lastLook: Rule = {
  name: 'last-look',
  begin() {
    let order = 0;
    // By name of the Node, and by process, as numbers in the order of things.
    const changed = new Map<string, number>();
    const listed = new Map<string, number>();
    return {
      see(entry) {
        order += 1;
        if (isListOfPods(entry)) listed.set(entry.by, order);
        if (entry.kind !== 'write' || entry.resource !== 'nodes') return NOTHING;
        const isLast = (changed.get(entry.name) ?? 0) < (listed.get(entry.by) ?? 0);
        changed.set(entry.name, order);
        return !isLast && isApiserver(entry.by) && proofSetBy(entry) !== undefined
          ? [`${entry.by} proved ${entry.name} to be drained as it was after the last look at its pods`]
          : NOTHING;
      },
    };
  },
};

const isListOfPods = (entry: Entry): entry is Extract<Entry, RequestEntry> =>
  entry.kind === 'request' && entry.resource === 'pods' && entry.verb === 'list';
