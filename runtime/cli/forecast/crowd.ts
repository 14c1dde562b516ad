import { isAskedFor, neverStarts } from '../../controller/plan/facts/node.ts';
import { nodeInfos } from '../../controller/plan/nodes/join.ts';
import { type NodeInfo, type NodeView, type ShadowView, type Snapshot } from '../../controller/plan/facts/snapshot.ts';
import { type Ruling, Rulings } from '../../controller/plan/facts/rulings.ts';
import { RESTING } from '../../controller/plan/facts/phase.ts';
import { provenWith } from '../../controller/plan/releases/proving.ts';
import { labelOf } from '../../lib/selector.ts';
import { byAge } from '../../controller/plan/gates/turns.ts';

/** A node with its shadow. */
export interface Pair {
  readonly node: NodeView;
  readonly shadow: ShadowView;
}

/** Nodes that one policy rules, of one family and one proof: they are counted together. */
export interface Kin {
  /** Name of the policy; empty for the variables. */
  readonly policy: string;
  /** Of the label that releases are proven per; undefined where they are by all nodes together. */
  readonly value: string | undefined;
  /** The shadow that stays in sight, and counts for those that do not. */
  readonly speaker: string;
  behind: number;
}

/** Those of them in one zone that prepare updates ahead, or those that do not: they take turns by age. */
interface Line {
  readonly kin: Kin;
  readonly room: number;
  /** How many that run a proven version stay in sight, besides the last, because how many nodes start goes by their number. */
  readonly counted: number;
  /** Waiting in sight, by name of the shadow. */
  readonly front: Map<string, Pair>;
  /** Waiting out of sight, the next one last. */
  behind: Pair[];
  /** With nothing to do, by the version that they run. Of a proven version the node that was updated last is enough. */
  readonly idle: Map<string, Idle>;
}

interface Idle {
  readonly seen: Pair[];
  readonly unseen: Pair[];
}

export interface CrowdTerms {
  /** How many of a line wait in sight: more than can start, or prepare, at once. @param members shadows of nodes that the policy rules */
  readonly roomUnder: (rules: Ruling['rules'], members: readonly ShadowView[]) => number;
  /** The controller's own. Its turn is the last, and it is always in sight. */
  readonly ownNode: string;
  /** Whether a policy has proven what the node runs. */
  readonly isProven: (pair: Pair, kin: Pick<Kin, 'policy' | 'value'>) => boolean;
}

/**
 * Nodes of a large fleet that a plan need not look at, so that a forecast takes time in proportion to the fleet: they wait behind others of their
 * line, or have nothing to do on a release that is proven. One of their kin is `alike` to them, and counts for them.
 */
export class Crowd {
  readonly #terms: CrowdTerms;
  /** By name of the shadow. */
  readonly #lines = new Map<string, Line>();
  /** Those out of sight, by name of the shadow. */
  readonly #hidden = new Map<string, Pair>();
  /** As `changes` tells them. */
  readonly #moves = new Map<string, Pair | undefined>();
  /** Kin whose number out of sight has changed since `changes`. */
  readonly #kin = new Set<Kin>();

  constructor(snapshot: Snapshot, terms: CrowdTerms) {
    this.#terms = terms;
    const { claims } = new Rulings(snapshot);
    const pairs = nodeInfos(snapshot).filter((info) => isPlain(info, snapshot, terms));
    const ruled = pairs.filter(({ node }) => claims.of(node).policy !== undefined);
    const members = Map.groupBy(ruled, ({ node }) => claims.of(node).rules);
    const kinOf = ({ node }: Pair): string => {
      const { name = '', proof } = claims.of(node).rules;
      return `${name} ${node.family} ${provenWith(node, proof)}`;
    };
    for (const those of Map.groupBy(ruled, kinOf).values()) {
      const [speaker] = those.toSorted((a, b) => (b.shadow.lastUpdateMs ?? 0) - (a.shadow.lastUpdateMs ?? 0));
      if (!speaker) continue;
      const { rules } = claims.of(speaker.node);
      const { name: policy = '', zones, proof } = rules;
      const room = this.#terms.roomUnder(
        rules,
        (members.get(rules) ?? []).map((one) => one.shadow),
      );
      const counted = proof.widen === undefined ? 0 : room;
      const value = proof.per === undefined ? undefined : provenWith(speaker.node, proof);
      const kin = { policy, value, speaker: speaker.shadow.name, behind: 0 };
      const others = those.filter((pair) => pair !== speaker);
      for (const line of Map.groupBy(others, (pair) => lineOf(pair, zones.key)).values())
        this.#line(line, { kin, room, counted });
    }
  }

  /** Nodes out of sight, by name of the shadow. */
  get hidden(): ReadonlyMap<string, Pair> {
    return this.#hidden;
  }

  #line(pairs: readonly Pair[], terms: Pick<Line, 'kin' | 'room' | 'counted'>): void {
    const line: Line = { ...terms, front: new Map(), behind: [], idle: new Map() };
    for (const { shadow } of pairs) this.#lines.set(shadow.name, line);
    this.#join(line, pairs.filter(isBehindOffer));
    for (const pair of pairs.filter((one) => !isBehindOffer(one))) this.#rest(line, pair);
  }

  /** Fills the front by age. A node that is in front stays there: it may have been named to prepare its update. */
  #join(line: Line, pairs: readonly Pair[]): void {
    const inTurn = [...line.front.values(), ...line.behind, ...pairs].toSorted(byTurn);
    for (const pair of inTurn.slice(0, line.room)) line.front.set(pair.shadow.name, pair);
    line.behind = inTurn.filter(({ shadow }) => !line.front.has(shadow.name)).toReversed();
    for (const name of line.front.keys()) this.#show(line, name);
    for (const pair of line.behind) this.#hide(line, pair);
  }

  #rest(line: Line, pair: Pair): void {
    const version = pair.shadow.status?.current_version ?? '';
    const idle = line.idle.get(version) ?? { seen: [], unseen: [] };
    line.idle.set(version, idle);
    idle.seen.push(pair);
    this.#settle(line, idle);
  }

  #settle(line: Line, { seen, unseen }: Idle): void {
    const last = seen.at(-1) ?? unseen.pop();
    if (!last || (seen.length > 0 && !this.#isOneEnough(line, last))) return;
    if (seen.length === 0) seen.push(last);
    for (const pair of seen.splice(line.counted, Math.max(0, seen.length - line.counted - 1))) {
      unseen.push(pair);
      this.#hide(line, pair);
    }
    this.#show(line, last.shadow.name);
  }

  #isOneEnough({ room, kin }: Line, pair: Pair): boolean {
    return room !== Infinity && this.#terms.isProven(pair, kin);
  }

  #hide({ kin }: Line, pair: Pair): void {
    const { name } = pair.shadow;
    const isNews = !this.#hidden.has(name);
    this.#hidden.set(name, pair);
    if (isNews) this.#move(kin, 1, { name, pair: undefined });
  }

  #show({ kin }: Line, name: string): void {
    const pair = this.#hidden.get(name);
    if (pair && this.#hidden.delete(name)) this.#move(kin, -1, { name, pair });
  }

  #move(kin: Kin, by: number, { name, pair }: { readonly name: string; readonly pair: Pair | undefined }): void {
    kin.behind += by;
    this.#kin.add(kin);
    this.#moves.set(name, pair);
  }

  /** An update begins: another node comes in front. */
  started(shadow: string): void {
    const line = this.#lines.get(shadow);
    const next = line?.front.delete(shadow) ? line.behind.pop() : undefined;
    if (!line || !next) return;
    line.front.set(next.shadow.name, next);
    this.#show(line, next.shadow.name);
  }

  /** An update is over. */
  finished(pair: Pair): void {
    const line = this.#lines.get(pair.shadow.name);
    if (line && isBehindOffer(pair)) line.front.set(pair.shadow.name, pair);
    else if (line) this.#rest(line, pair);
  }

  /** Releases may have been proven. */
  proven(): void {
    for (const line of new Set(this.#lines.values())) for (const idle of line.idle.values()) this.#settle(line, idle);
  }

  /** They are offered what a wave has brought. */
  offered(pairs: readonly Pair[]): void {
    const known = pairs.filter(({ shadow }) => this.#lines.has(shadow.name));
    for (const pair of known) if (this.#hidden.has(pair.shadow.name)) this.#hidden.set(pair.shadow.name, pair);
    for (const [line, those] of Map.groupBy(known, ({ shadow }) => this.#lines.get(shadow.name)))
      if (line) this.#offer(line, those);
  }

  #offer(line: Line, pairs: readonly Pair[]): void {
    const names = new Set(pairs.map(({ shadow }) => shadow.name));
    const isOther = ({ shadow }: Pair): boolean => !names.has(shadow.name);
    for (const [version, { seen, unseen }] of line.idle)
      line.idle.set(version, { seen: seen.filter(isOther), unseen: unseen.filter(isOther) });
    line.behind = line.behind.filter(isOther);
    this.#join(
      line,
      pairs.filter(({ shadow }) => !line.front.has(shadow.name)),
    );
    for (const idle of line.idle.values()) this.#settle(line, idle);
  }

  /** Since the last call: nodes that came in sight or went out of it, and for how many others each speaker counts now. */
  changes(): Changes {
    const alike = new Map([...this.#kin].map(({ speaker, behind }) => [speaker, behind]));
    const moves = new Map(this.#moves);
    this.#kin.clear();
    this.#moves.clear();
    return { moves, alike };
  }
}

interface Changes {
  /** By name of the shadow; undefined for one that is out of sight. */
  readonly moves: ReadonlyMap<string, Pair | undefined>;
  /** For how many others a speaker counts, by name of its shadow. */
  readonly alike: ReadonlyMap<string, number>;
}

/** Only some agents may prepare updates while they wait, and these are named in an order of their own. */
const lineOf = ({ node, shadow: { status } }: Pair, zone: string): string =>
  `${status?.staged == null} ${labelOf(node.labels, zone) ?? ''}`;

const isBehindOffer = ({ shadow: { status } }: Pair): boolean => status?.target_version !== status?.current_version;

/** As plans give turns, where nobody has asked and none has failed. */
const byTurn = (a: Pair, b: Pair): number => byAge({ info: a }, { info: b });

/** All that can happen to it is a start, and its age alone decides its turn. */
function isPlain(info: NodeInfo, { ruledSince }: Snapshot, { ownNode }: CrowdTerms): info is NodeInfo & Pair {
  const { node, shadow, permit, silentSince, phase } = info;
  if (!shadow || permit || silentSince !== undefined || phase !== RESTING) return false;
  return isCalm(node) && isWell(shadow) && !ruledSince?.has(node.uid) && node.name !== ownNode;
}

function isCalm(node: NodeView): boolean {
  const isDecided = neverStarts(node) || isAskedFor(node);
  return node.managed && node.ready && node.outAt === undefined && node.marks === undefined && !isDecided;
}

const isWell = ({ status, cannotLookSince, stale, hint }: ShadowView): boolean =>
  status?.crash_count === 0 && cannotLookSince === undefined && !stale && hint === undefined;
