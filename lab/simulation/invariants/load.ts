import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Entry, HostEntry, Instant, SentEntry } from '../types.ts';
import { HOUR } from '../units.ts';
import { isAgent, isController, isOperator, podFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';

/** Loads are bounded by the hour, and judged by each sixth of one. */
const SLICE = HOUR / 6;

/** Requests an hour of one process, whatever goes wrong: for itself, and for each node of the fleet. */
interface Bound {
  readonly own: number;
  readonly perNode: number;
}

/** A leader renews its Lease every two seconds, and a candidate reads it as often. */
const CONTROLLER: Bound = { own: 12_000, perNode: 600 };
/** A drain asks for each pod every five seconds; who asks is reviewed with each request. */
const APISERVER: Bound = { own: 6000, perNode: 3000 };
export const AGENT: Bound = { own: 2400, perNode: 0 };
/** Of the API of one host: while that works, it is asked again and again whether it is done, and it may hang for two hours. */
const HOST: Bound = { own: 24_000, perNode: 0 };

/**
 * Requests an hour that name one node or its shadow, of all processes of a kind together, and those of its agent to apiservers: between two and
 * three times the most that storms have shown. That was where a node was managed no more, and its agent, not stopped yet, made its shadow anew; or
 * where three tries of checks asked for a condition of the same Node, each every five seconds.
 */
const ABOUT_NODE = { controllers: 4800, apiservers: 4200, agents: 3000 } as const;
/** The same of those about its pods: a drain lists them again and again, and asks for each that a budget keeps every five seconds, or twice as often by its jitter. */
const ABOUT_PODS = { own: 1800, perPod: 1440 } as const;

/** No hot loop. */
export const load: Rule = {
  name: 'load',
  begin(picture) {
    let ends: Instant = SLICE;
    let slice = new Slice(picture);
    return {
      see(entry) {
        if (entry.at >= ends) {
          slice = new Slice(picture);
          ends = Math.floor(entry.at / SLICE) * SLICE + SLICE;
        }
        return slice.see(entry);
      },
    };
  },
};

/** Ten minutes. */
class Slice {
  readonly #picture: Picture;
  readonly #counts = new Map<string, number>();
  /** Those that have been there at any time of it, by name of the node. */
  readonly #pods = new Map<string, Set<string>>();
  /** Nodes where the older operator's agent asks: how often it does is none of ours. */
  readonly #older = new Set<string>();

  constructor(picture: Picture) {
    this.#picture = picture;
    for (const { facts } of picture.pods.values()) this.#notePod(facts);
  }

  see(entry: Entry): readonly string[] {
    if (entry.kind === 'host') return this.#call(entry);
    if (entry.kind === 'sent') return isOperator(entry.by) ? this.#sent(entry) : NOTHING;
    if (entry.kind === 'write' && entry.resource === 'pods' && entry.after) this.#notePod(podFacts(entry.after));
    return NOTHING;
  }

  #notePod({ node, uid }: { readonly node: string | undefined; readonly uid: string }): void {
    if (node === undefined) return;
    getOrInsert(this.#pods, node, () => new Set()).add(uid);
  }

  #call({ node, event }: HostEntry): readonly string[] {
    if (event.kind !== 'call') return NOTHING;
    return this.#count(`the host of ${node}`, 1, () => HOST.own);
  }

  #sent({ by, to, node, ofPods, count }: SentEntry): readonly string[] {
    if (to === 'apiserver') {
      const isOlder = by.startsWith('upstream-');
      if (isOlder && node !== undefined) this.#older.add(node);
      return isOlder ? NOTHING : this.#count(`${by}, to apiservers`, count, () => ABOUT_NODE.agents);
    }
    const own = this.#count(by, count, () => this.#mostOf(by));
    if (node === undefined || isAgent(by)) return own;
    const whose = isController(by) ? 'controllers' : 'apiservers';
    const what = `the ${whose}, about ${ofPods ? 'pods on ' : ''}${node}`;
    return [...own, ...this.#count(what, count, () => this.#mostAbout(node, whose, ofPods))];
  }

  /** A breach is told once. @param most an hour */
  #count(what: string, more: number, most: () => number): readonly string[] {
    const before = this.#counts.get(what) ?? 0;
    const count = before + more;
    this.#counts.set(what, count);
    const bound = Math.ceil(most() / 6);
    return before <= bound && count > bound ? [`${what}: more than ${bound} requests in ten minutes`] : NOTHING;
  }

  #mostOf(by: string): number {
    const { own, perNode } = isController(by) ? CONTROLLER : isAgent(by) ? AGENT : APISERVER;
    return own + perNode * this.#picture.nodes.size;
  }

  #mostAbout(node: string, whose: 'controllers' | 'apiservers', ofPods: boolean): number {
    if (whose === 'apiservers' && this.#older.has(node)) return Infinity;
    if (!ofPods) return ABOUT_NODE[whose];
    return ABOUT_PODS.own + ABOUT_PODS.perPod * (this.#pods.get(node)?.size ?? 0);
  }
}
