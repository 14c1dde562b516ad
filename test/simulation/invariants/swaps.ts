import type { Entry, RequestEntry } from '../types.ts';
import { isApiserver, isOperator, LEASE, nodeFacts } from './facts.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';

/** What a process has read of one Node lately: so many versions are remembered. */
const READ = 8;

type Accepted = RequestEntry & { readonly name: string };

/** What a rule writes is written on what was read, and keeps others from writing on what was there before it. */
export const swaps: Rule = {
  name: 'swaps',
  begin: ({ sight }) => ({
    see: (entry) => {
      if (entry.kind !== 'request' || !isAccepted(entry)) return NOTHING;
      const what = `${entry.by} wrote ${entry.resource} ${entry.name}`;
      if (isSwap(entry) && entry.version === undefined) return [`${what}, whatever it had become`];
      // A renewal by a clock that was set back may name the same time again.
      // A status that an agent sends again because it has not seen it yet keeps nobody from anything.
      const isFence = isSwap(entry) && entry.subresource === undefined;
      const isRenewal = entry.resource === 'leases' && sight.clockOf(entry.by) > 0;
      return isFence && !isRenewal && entry.isVain ? [`${what} as it was: that keeps nobody from it`] : NOTHING;
    },
  }),
};

const isAccepted = (entry: RequestEntry): entry is Accepted =>
  (entry.verb === 'update' || entry.verb === 'patch') &&
  entry.code < 300 &&
  entry.name !== undefined &&
  isOperator(entry.by);

function isSwap({ by, resource, name, subresource }: Accepted): boolean {
  if (resource === 'bottlerocketshadows') return subresource === undefined || isApiserver(by);
  return resource === 'nodes' || (resource === 'leases' && name === LEASE);
}

/** M3: the last look begins with the Node, and the proof is a write on that. */
export const lastLook: Rule = {
  name: 'last-look',
  begin() {
    const looks = new Looks();
    return {
      see(entry) {
        if (entry.kind === 'request' && isApiserver(entry.by)) looks.note(entry);
        return isProof(entry) && !looks.isLast(entry)
          ? [`${entry.by} proved ${entry.name} to be drained as it was after the last look at its pods`]
          : NOTHING;
      },
    };
  },
};

/** What apiservers read, in its order. */
class Looks {
  #order = 0;
  /** By process and Node, when it first read which version. */
  readonly #read = new Map<string, Map<string, number>>();
  /** By process, when it last listed pods. */
  readonly #listed = new Map<string, number>();

  note({ by, verb, resource, name, shown }: RequestEntry): void {
    this.#order += 1;
    if (resource === 'pods' && verb === 'list') this.#listed.set(by, this.#order);
    if (resource === 'nodes' && name !== undefined && shown !== undefined) this.#noteRead(`${by} ${name}`, shown);
  }

  #noteRead(key: string, version: string): void {
    const versions = this.#read.get(key) ?? new Map<string, number>();
    this.#read.set(key, versions);
    if (!versions.has(version)) versions.set(version, this.#order);
    if (versions.size > READ) for (const oldest of [...versions.keys()].slice(0, -READ)) versions.delete(oldest);
  }

  /** Whether the version of the Node on which this was written had been read before the pods were listed last. */
  isLast({ by, name, version = '' }: Write): boolean {
    const readAt = this.#read.get(`${by} ${name}`)?.get(version) ?? Infinity;
    return readAt < (this.#listed.get(by) ?? 0);
  }
}

function isProof(entry: Entry): entry is Entry & Write {
  if (entry.kind !== 'write' || entry.resource !== 'nodes' || !isApiserver(entry.by) || !entry.after) return false;
  const proof = nodeFacts(entry.after).marks?.proof;
  return proof !== undefined && proof !== (entry.before && nodeFacts(entry.before).marks?.proof);
}
