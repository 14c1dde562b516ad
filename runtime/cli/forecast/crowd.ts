import { nodeInfos } from '../../controller/plan/nodes/join.ts';
import {
  compare,
  keepsOut,
  type NodeInfo,
  type NodeView,
  type ShadowView,
  type Snapshot,
} from '../../controller/plan/facts/snapshot.ts';
import { type Ruling, Rulings } from '../../controller/plan/facts/rulings.ts';
import { RESTING } from '../../controller/plan/facts/phase.ts';

/** A node with its shadow. */
export interface Pair {
  readonly node: NodeView;
  readonly shadow: ShadowView;
}

/** Nodes that one policy rules, of one family: they are counted together. */
interface Kin {
  /** Name of the policy; empty for the variables. */
  readonly policy: string;
  /** The shadow of the one that stays in front, and stands for those that do not. */
  readonly speaker: string;
  behind: number;
}

/** Those of them in one zone, and alike in whether they prepare updates: they take turns by age. */
interface Line {
  readonly kin: Kin;
  /** Behind, the next one last. */
  readonly waiting: Pair[];
  /** The shadow of the last one that was updated: others on the same version tell no more than it. */
  done: string | undefined;
}

export interface CrowdTerms {
  /** How many of a line wait in front: more than can start, or prepare, at once. @param members nodes that the policy rules */
  readonly roomUnder: (rules: Ruling['rules'], members: number) => number;
  /** It comes last, and is always in front. */
  readonly ownNode: string;
  /** Whether a policy has proven what the node runs. */
  readonly isProven: (pair: Pair, policy: string) => boolean;
}

/**
 * Nodes of a large fleet that a plan need not look at, so that a forecast takes time in proportion to the fleet: they wait behind others of their
 * line, or are done with a release that is proven. One of their kin is `alike` to them, and counts for them.
 */
export class Crowd {
  readonly #terms: CrowdTerms;
  /** By name of the shadow. */
  readonly #lines = new Map<string, Line>();
  /** Kin of which other nodes are behind than before. */
  readonly #moved = new Set<Kin>();
  /** Names of the shadows of nodes that are not in front. */
  readonly #hidden = new Set<string>();

  constructor(snapshot: Snapshot, terms: CrowdTerms) {
    this.#terms = terms;
    const { claims } = new Rulings(snapshot);
    const pairs = nodeInfos(snapshot).filter((info) => isPlain(info, snapshot, terms));
    const ruled = pairs.filter(({ node }) => claims.of(node).policy !== undefined);
    const members = Map.groupBy(ruled, ({ node }) => claims.of(node).rules);
    const kinOf = ({ node }: Pair): string => `${claims.of(node).rules.name ?? ''} ${node.family}`;
    for (const those of Map.groupBy(ruled, kinOf).values()) {
      const [speaker] = those.toSorted((a, b) => (b.shadow.lastUpdateMs ?? 0) - (a.shadow.lastUpdateMs ?? 0));
      if (!speaker) continue;
      const { rules } = claims.of(speaker.node);
      const { name: policy = '', zones } = rules;
      const room = this.#terms.roomUnder(rules, members.get(rules)?.length ?? 0);
      const kin = { policy, speaker: speaker.shadow.name, behind: 0 };
      const others = those.filter((pair) => pair !== speaker);
      for (const line of Map.groupBy(others, (pair) => lineOf(pair, zones.key)).values())
        this.#line(line, { kin, room });
    }
  }

  isHidden(shadow: string): boolean {
    return this.#hidden.has(shadow);
  }

  #line(pairs: readonly Pair[], { kin, room }: { readonly kin: Kin; readonly room: number }): void {
    const [waiting, done] = [pairs.filter(isBehindOffer), pairs.filter((pair) => !isBehindOffer(pair))];
    const inTurn = waiting.toSorted(byTurn);
    const line: Line = { kin, waiting: inTurn.slice(room).toReversed(), done: undefined };
    for (const { shadow } of pairs) this.#lines.set(shadow.name, line);
    for (const { shadow } of line.waiting) this.#hide(shadow.name, kin);
    for (const pair of done) this.finished(pair);
  }

  #hide(shadow: string, kin: Kin): void {
    this.#hidden.add(shadow);
    kin.behind += 1;
    this.#moved.add(kin);
  }

  /** An update begins. @returns who comes in front instead */
  started(shadow: string): Pair | undefined {
    const line = this.#lines.get(shadow);
    const next = line?.waiting.pop();
    if (!line || !next) return undefined;
    this.#hidden.delete(next.shadow.name);
    line.kin.behind -= 1;
    this.#moved.add(line.kin);
    return next;
  }

  /** An update is over. @returns the shadow of another one that need not be looked at any more */
  finished(pair: Pair): string | undefined {
    const line = this.#lines.get(pair.shadow.name);
    if (!line || !this.#terms.isProven(pair, line.kin.policy)) return undefined;
    const before = line.done;
    line.done = pair.shadow.name;
    if (before !== undefined) this.#hide(before, line.kin);
    return before;
  }

  /** For whom else nodes count that are in front, where that has changed: by name of the shadow. */
  alike(): ReadonlyMap<string, number> {
    const changed = new Map([...this.#moved].map(({ speaker, behind }) => [speaker, behind]));
    this.#moved.clear();
    return changed;
  }
}

/** Only some agents may prepare updates while they wait, and these are named in an order of their own. */
const lineOf = ({ node, shadow: { status } }: Pair, zone: string): string =>
  `${status?.staged == null} ${node.labels[zone] ?? ''}`;

const isBehindOffer = ({ shadow: { status } }: Pair): boolean => status?.target_version !== status?.current_version;

/** As plans give turns, where nobody has asked and none has failed. */
const byTurn = (a: Pair, b: Pair): number => a.node.createdAt - b.node.createdAt || compare(a.node.name, b.node.name);

/** Nothing but a start can be due on it, and its turn depends on its age alone. */
function isPlain(info: NodeInfo, { ruledSince }: Snapshot, { ownNode }: CrowdTerms): info is NodeInfo & Pair {
  const { node, shadow, permit, silentSince, phase } = info;
  if (!shadow || permit || silentSince !== undefined || phase !== RESTING) return false;
  return isCalm(node) && isWell(shadow) && !ruledSince?.has(node.uid) && node.name !== ownNode;
}

function isCalm(node: NodeView): boolean {
  const isAsked = keepsOut(node) || node.askedBy !== undefined || node.retryOf !== undefined;
  return node.managed && node.ready && node.outAt === undefined && node.marks === undefined && !isAsked;
}

const isWell = ({ status, cannotLookSince, stale, hint }: ShadowView): boolean =>
  status?.crash_count === 0 && cannotLookSince === undefined && !stale && hint === undefined;
