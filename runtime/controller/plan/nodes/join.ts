import { phaseOf } from '../facts/phase.ts';
import type { PermitView } from '../facts/permit.ts';
import { compare, type NodeInfo, type NodeView, type ShadowView, type Snapshot } from '../facts/snapshot.ts';

type Joined = Pick<Snapshot, 'nodes' | 'shadows' | 'permits' | 'silentSince'>;

/** The indexes of the nodes in a snapshot's list, in the order of their names, and those of the shadows that are called after them. */
interface Order {
  readonly nodes: readonly number[];
  /** One for each of `nodes`; NOWHERE where no shadow is called after the node. */
  readonly shadows: readonly number[];
}

const NOWHERE = -1;

/** What was made of a node before; undefined where it has to be made anew. */
type Kept<T> = (node: NodeView, shadow: ShadowView | undefined, at: number) => T | undefined;

/** Each node of a snapshot with what belongs to it, by name, so that a plan does not depend on the order in which caches were filled. */
export class Join {
  readonly #snapshot: Joined;
  readonly #order: Order;
  readonly #permits: ReadonlyMap<string, PermitView>;

  /** @param last that of an earlier snapshot: its order is used again where the same names stand in the same places */
  constructor(snapshot: Joined, last?: Join) {
    this.#snapshot = snapshot;
    this.#order = last?.isAlike(snapshot) ? last.#order : placesIn(snapshot);
    this.#permits = new Map(snapshot.permits.map((permit) => [permit.nodeUid, permit]));
  }

  /** What is made of every node. @param kept is asked first for nodes that have no permit and whose agent runs */
  map<T>(make: (info: NodeInfo, at: number) => T, kept: Kept<T> = () => undefined): T[] {
    const { nodes, shadows } = this.#snapshot;
    const all: T[] = [];
    for (let at = 0; at < this.#order.nodes.length; at++) {
      const node = nodes[this.#order.nodes[at] ?? NOWHERE];
      if (!node) continue;
      const shadow = shadows[this.#order.shadows[at] ?? NOWHERE];
      const rest = this.#restOf(node);
      const known = rest === NOTHING ? kept(node, shadow, at) : undefined;
      all.push(known ?? make(infoOf(node, shadow, rest), at));
    }
    return all;
  }

  /** Mostly there are no permits and no silent agents. Then no text is looked up. */
  #restOf({ uid, name }: NodeView): Rest {
    const { silentSince } = this.#snapshot;
    const permit = this.#permits.size === 0 ? undefined : this.#permits.get(uid);
    const since = silentSince.size === 0 ? undefined : silentSince.get(name);
    return permit || since !== undefined ? { permit, silentSince: since } : NOTHING;
  }

  /** Whether the same names stand in the same places. */
  isAlike({ nodes, shadows }: Joined): boolean {
    return areAlike(nodes, this.#snapshot.nodes, nodeKey) && areAlike(shadows, this.#snapshot.shadows, shadowKey);
  }
}

type Rest = Pick<NodeInfo, 'permit' | 'silentSince'>;

const NOTHING: Rest = { permit: undefined, silentSince: undefined };

export const nodeInfos = (snapshot: Joined): NodeInfo[] => mapNodes(snapshot, (info) => info);

/** What is made of every node of the snapshot, by name. */
export const mapNodes = <T>(snapshot: Joined, make: (info: NodeInfo) => T): T[] => new Join(snapshot).map(make);

function infoOf(node: NodeView, shadow: ShadowView | undefined, { permit, silentSince }: Rest): NodeInfo {
  const own = shadow?.owners.includes(node.uid) ? shadow : undefined;
  return {
    node,
    shadow: own,
    phase: phaseOf(own, node),
    isShadowUnowned: shadow?.owners.length === 0,
    permit,
    silentSince,
  };
}

const nodeKey = ({ shadowName }: NodeView): string => shadowName;
const shadowKey = ({ name }: ShadowView): string => name;

function areAlike<T>(now: readonly T[], before: readonly T[], keyOf: (one: T) => string): boolean {
  if (now.length !== before.length) return false;
  return now.every((one, at) => {
    const other = before[at];
    return one === other || (other !== undefined && keyOf(one) === keyOf(other));
  });
}

function placesIn({ nodes, shadows }: Joined): Order {
  const names = shadows.map(shadowKey);
  const sorted = placesByKey(names);
  const nameAt = (index: number): string | undefined => names[sorted[index] ?? NOWHERE];
  const wanted = nodes.map(nodeKey);
  const places = placesByKey(wanted);
  let next = 0;
  // Shadows are called after their nodes, so both are in the same order, and one walk finds all pairs.
  const beside = places.map((place) => {
    const name = wanted[place] ?? '';
    while ((nameAt(next) ?? name) < name) next += 1;
    return nameAt(next) === name ? (sorted[next] ?? NOWHERE) : NOWHERE;
  });
  return { nodes: places, shadows: beside };
}

const placesByKey = (keys: readonly string[]): readonly number[] =>
  [...keys.keys()].toSorted((a, b) => compare(keys[a] ?? '', keys[b] ?? ''));
