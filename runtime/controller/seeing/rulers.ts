import { byWallClock, type Moment } from '../../lib/clock.ts';
import { getOrInsert } from '../../lib/maps.ts';
import { RULED_FOR_MS, type Ruling, type Rulings } from '../plan/facts/rulings.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';

/** `claims`: of the policies. */
type Seen = Pick<Snapshot, 'nodes' | 'policies'> & Pick<Rulings, 'claims'>;

/**
 * Remembers which policy rules each node, and since when, where that has changed lately (rule P1). At first sight the younger of node and policy
 * tells how long it has ruled, so that a new leader delays no node that is older.
 */
export class Rulers {
  #last: Pick<Seen, 'nodes' | 'claims'> | undefined;
  /** By UID of the node. */
  #rulers: ReadonlyMap<string, string> = new Map();
  /** By UID of the node, since when another rules it. Monotonic. */
  readonly #news = new Map<string, number>();

  /** To be called while this process does not lead: it observes too rarely then to know when a ruler changed. */
  forget(): void {
    this.#last = undefined;
    this.#rulers = new Map();
    this.#news.clear();
  }

  /** By UID of the node, since when its policy rules it, where that is news. By the wall clock. */
  see({ nodes, policies, claims }: Seen, moment: Moment): ReadonlyMap<string, number> {
    if (!this.#isLast(nodes, claims)) this.#compare({ nodes, policies, claims }, moment);
    this.#last = { nodes, claims };
    for (const [uid, since] of this.#news) if (since + RULED_FOR_MS <= moment.monotonic) this.#news.delete(uid);
    return new Map([...this.#news].map(([uid, since]) => [uid, byWallClock(since, moment)]));
  }

  #isLast(nodes: Seen['nodes'], claims: Seen['claims']): boolean {
    const last = this.#last;
    if (last?.claims !== claims || nodes.length !== last.nodes.length) return false;
    return nodes === last.nodes || nodes.every((node, at) => node === last.nodes[at]);
  }

  #compare({ nodes, policies, claims }: Seen, { now, monotonic }: Moment): void {
    const rulerOf = namer(policies);
    const before = this.#rulers;
    const rulers = new Map<string, string>();
    for (const node of nodes) {
      const ruler = rulerOf(claims.of(node));
      const last = before.get(node.uid);
      rulers.set(node.uid, ruler.name);
      if (last === ruler.name) continue;
      const ageMs = last === undefined ? Math.max(0, now - Math.max(node.createdAt, ruler.madeAt)) : 0;
      this.#news.set(node.uid, monotonic - ageMs);
    }
    this.#rulers = rulers;
  }
}

interface Ruler {
  /** With its UID: one that is made anew under its name is another. */
  readonly name: string;
  readonly madeAt: number;
}

function namer(policies: Seen['policies']): (ruling: Ruling) => Ruler {
  const resources = new Map(policies.map(({ policy, resource }) => [policy, resource]));
  const known = new Map<Ruling, Ruler>();
  const make = ({ policy, rivals }: Ruling): Ruler => {
    const those = policy ? [policy] : rivals;
    return {
      name: those.map((one) => `${one.name ?? ''} ${resources.get(one)?.uid ?? ''}`).join(),
      madeAt: Math.max(...those.map((one) => resources.get(one)?.createdAt ?? -Infinity)),
    };
  };
  return (ruling) => getOrInsert(known, ruling, make);
}
