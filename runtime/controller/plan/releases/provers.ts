import type { AssessedNode } from '../nodes/health.ts';
import type { Risk } from './books.ts';
import { type Proven, provenWith, type ProvingRules } from './proving.ts';
import { lostAt, wellFrom } from './well.ts';

type Until = readonly [uid: string, goneAt: number];

/** Until when a node on its way counts. */
interface Times {
  /** As one that the release may make fail: from then on it is lost. */
  readonly goneAt: number;
  /** As one that is to prove it. */
  readonly stuckAt: number;
  /** No budget counts it, nor does how far a proven release has widened. */
  readonly isSpared: boolean;
}

/** Who can prove a release to the nodes of one policy and family: those at rest on it, and those on their way. Who has failed on it is none of them. */
export class Provers {
  readonly #rules: ProvingRules;
  /** By UID, until when each counts: nodes on their way to it. */
  readonly #at: Readonly<Record<Risk, Map<string, number>>> = { moving: new Map(), disturbed: new Map() };
  /** By UID, with whom those on their way go by a proof, and until when they are waited for. */
  readonly #with = new Map<string, string>();
  readonly #stuckAt = new Map<string, number>();
  readonly #spared = new Set<string>();
  /** Nodes at rest on it, by whose proof they are. */
  readonly #resting = new Map<string, AssessedNode[]>();

  constructor(rules: ProvingRules) {
    this.#rules = rules;
  }

  /** The nodes, which are alike, are at rest and run the release. */
  rest(those: readonly AssessedNode[]): void {
    const [one] = those;
    if (!one) return;
    const key = provenWith(one.node, this.#rules.proof);
    const known = this.#resting.get(key) ?? [];
    for (const info of those) known.push(info);
    this.#resting.set(key, known);
  }

  /** The node is on its way. */
  risk(as: Risk, node: Proven, { goneAt, stuckAt, isSpared }: Times): void {
    if (!this.#isThere(goneAt)) return;
    if (isSpared) this.#spared.add(node.uid);
    this.#stuckAt.set(node.uid, stuckAt);
    this.#at[as].set(node.uid, goneAt);
    this.#with.set(node.uid, provenWith(node, this.#rules.proof));
  }

  #isThere(goneAt: number): boolean {
    return goneAt > this.#rules.now;
  }

  /** Those at rest on it that go by one proof, or all. */
  resting(key?: string): readonly AssessedNode[] {
    return key === undefined ? [...this.#resting.values()].flat() : (this.#resting.get(key) ?? []);
  }

  /** Those on their way, by UID, until when each counts. @param isMeant by whose proof they go. @default all */
  atRisk(as: Risk, isMeant?: (key: string) => boolean): ReadonlyMap<string, number> {
    if (!isMeant) return this.#at[as];
    return new Map([...this.#at[as]].filter(([uid]) => isMeant(this.#with.get(uid) ?? '')));
  }

  /** Those of them that count once it is proven. */
  widening(as: Risk): ReadonlyMap<string, number> {
    const all = this.#at[as];
    return this.#spared.size === 0 ? all : new Map([...all].filter(([uid]) => !this.#spared.has(uid)));
  }

  /** Both together, of one proof or of all, but for those that are stuck. */
  all(as: Risk, key?: string): ReadonlyMap<string, number> {
    const resting = this.resting(key).map((info): Until => [info.node.uid, lostAt(info, this.#rules)]);
    const atRisk = this.atRisk(as, key === undefined ? undefined : (one) => one === key);
    const coming = [...atRisk].map(([uid, at]): Until => [uid, Math.min(at, this.#stuckAt.get(uid) ?? at)]);
    return new Map([...resting, ...coming].filter(([, until]) => this.#isThere(until)));
  }

  /** How many of those at rest have been well for the soak. */
  get well(): number {
    return this.wellAt.filter((instant) => instant <= this.#rules.now).length;
  }

  /** From when on each of those at rest has been well for the soak. */
  get wellAt(): readonly number[] {
    return this.resting().map((info) => wellFrom(info, this.#rules.proof.soakMs));
  }
}
