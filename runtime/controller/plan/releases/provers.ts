import { getOrInsert } from '../../../lib/maps.ts';
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

interface Coming extends Times {
  /** By whose proof it goes. */
  readonly key: string;
}

/** Who can prove a release to the nodes of one policy and family: those at rest on it, and those on their way. Who has failed on it is none of them. */
export class Provers {
  readonly #rules: ProvingRules;
  /** Nodes on their way to it, by UID. */
  readonly #coming: Readonly<Record<Risk, Map<string, Coming>>> = { moving: new Map(), disturbed: new Map() };
  /** Nodes at rest on it, by whose proof they are. */
  readonly #resting = new Map<string, AssessedNode[]>();

  constructor(rules: ProvingRules) {
    this.#rules = rules;
  }

  /** The nodes, which are alike, are at rest and run the release. */
  rest(those: readonly AssessedNode[]): void {
    const [one] = those;
    if (!one) return;
    const resting = getOrInsert(this.#resting, provenWith(one.node, this.#rules.proof), () => []);
    for (const info of those) resting.push(info);
  }

  /** The node is on its way. */
  risk(as: Risk, node: Proven, times: Times): void {
    if (!this.#isThere(times.goneAt)) return;
    this.#coming[as].set(node.uid, { ...times, key: provenWith(node, this.#rules.proof) });
  }

  #isThere(goneAt: number): boolean {
    return goneAt > this.#rules.now;
  }

  /** Those at rest on it that go by one proof, or all. */
  resting(key?: string): readonly AssessedNode[] {
    return key === undefined ? [...this.#resting.values()].flat() : (this.#resting.get(key) ?? []);
  }

  /** Those on their way, by UID, until when each counts. @param isMeant by whose proof they go */
  atRisk(as: Risk, isMeant: (key: string) => boolean): ReadonlyMap<string, number> {
    return new Map(this.#those(as, ({ key }) => isMeant(key)).map(([uid, { goneAt }]): Until => [uid, goneAt]));
  }

  /** Those of them that count once it is proven. */
  widening(as: Risk): ReadonlyMap<string, number> {
    return new Map(this.#those(as, ({ isSpared }) => !isSpared).map(([uid, { goneAt }]): Until => [uid, goneAt]));
  }

  #those(as: Risk, isMeant: (one: Coming) => boolean): readonly (readonly [uid: string, one: Coming])[] {
    return [...this.#coming[as]].filter(([, one]) => isMeant(one));
  }

  /** Both together, of one proof or of all, but for those that are stuck. */
  all(as: Risk, key?: string): ReadonlyMap<string, number> {
    const resting = this.resting(key).map((info): Until => [info.node.uid, lostAt(info, this.#rules)]);
    const those = this.#those(as, (one) => key === undefined || one.key === key);
    const coming = those.map(([uid, { goneAt, stuckAt }]): Until => [uid, Math.min(goneAt, stuckAt)]);
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
