import type { Entry, Instant } from '../types.ts';
import { isController, LEASE, leaseFacts, shadowFacts } from './facts.ts';
import { stepIn } from './obeyed.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import type { Ruling } from './rulings.ts';
import type { SeenNode } from './seen-node.ts';
import { SEEN_AFTER } from './sight.ts';

/** For so long after another policy has come to rule a node nothing is decided on it, milliseconds. */
const NEWS_MS = 30_000;

/** What has ruled a node. */
interface Reign {
  readonly ruling: Ruling;
  readonly since: Instant;
}

interface PastReign extends Reign {
  readonly until: Instant;
}

/** Who has ruled which node, by UID, lately. */
class Reigns {
  readonly #picture: Picture;
  readonly #present = new Map<string, Reign>();
  readonly #past = new Map<string, readonly PastReign[]>();

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  see({ resource, name, at }: Write): void {
    const { nodes } = this.#picture;
    if (resource === 'bottlerocketupdatepolicies') for (const node of nodes.values()) this.#note(node, at);
    const node = resource === 'nodes' ? nodes.get(name) : undefined;
    if (node) this.#note(node, at);
  }

  #note(node: SeenNode, at: Instant): void {
    const { uid } = node.facts;
    const ruling = this.#picture.rulings.of(node.facts);
    const last = this.#present.get(uid);
    if (last?.ruling === ruling) return;
    this.#present.set(uid, { ruling, since: Math.max(at, this.#picture.policiesAt) });
    if (!last || nameOf(last.ruling) === nameOf(ruling)) return;
    const kept = this.lately(uid, at);
    this.#past.set(uid, [...kept, { ...last, until: at }]);
  }

  /** What ruled the node until less than half a minute before. */
  lately(uid: string, instant: Instant): readonly PastReign[] {
    return (this.#past.get(uid) ?? []).filter(({ until }) => instant - until < NEWS_MS);
  }
}

const nameOf = (ruling: Ruling): string => (ruling.kind === 'ruled' ? ruling.by.name : ruling.names.join(', '));

/**
 * A policy that is away for a moment, or whose label is, still holds: whoever knows that it is away knows that this is news, and whoever does not
 * obeys it. Who has come to lead meanwhile knows of no other policy than the present one.
 */
export const rulers: Rule = {
  name: 'rulers',
  begin(picture) {
    const reigns = new Reigns(picture);
    let ledSince: Instant = -Infinity;
    return {
      see(entry: Entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (isTakeover(entry)) ledSince = entry.at;
        reigns.see(entry);
        const unlocked = unlockedIn(picture, entry);
        const step = unlocked ?? stepIn(picture, entry);
        if (!step) return NOTHING;
        const { node, what } = step;
        return reigns.lately(node.facts.uid, entry.sentAt).flatMap((past) => {
          const forbids = unlocked ? locked(past, unlocked.lock) : forbidden(picture, past, entry);
          if (!forbids || past.until - ledSince < SEEN_AFTER) return [];
          return [
            `${entry.by} ${what} ${node.facts.name}, and until ${Math.round((entry.sentAt - past.until) / 100) / 10} s before ${forbids}`,
          ];
        });
      },
    };
  },
};

function isTakeover({ resource, name, before, after }: Write): boolean {
  if (resource !== 'leases' || name !== LEASE || !after) return false;
  return leaseFacts(after).holder !== (before && leaseFacts(before).holder);
}

/** What the policy forbade by the time it was replaced, as everybody knew; undefined where it forbade nothing. */
function forbidden({ sight }: Picture, { ruling, since, until }: PastReign, { by, sentAt }: Write): string | undefined {
  const instant = Math.min(until, sight.stoodStillFrom(by, sentAt));
  if (ruling.kind !== 'ruled') return sight.mustKnow(since, instant) ? 'nobody knew who rules it' : undefined;
  const { name, paused, freezes } = ruling.by;
  if (paused && sight.mustKnow(since, instant)) return `${name} was paused`;
  const slack = sight.clockOf(by);
  const freeze = freezes.find(({ from, to }) => from + slack <= sentAt && sentAt < to - slack);
  return freeze && sight.mustKnow(Math.max(freeze.from + slack, since), instant) ? `${name} was frozen` : undefined;
}

interface Unlocked {
  readonly node: SeenNode;
  readonly what: string;
  /** What its host was locked to. */
  readonly lock: string;
}

/** P12: the node whose host a controller wants to be locked no more. */
function unlockedIn({ nodes }: Picture, { resource, by, before, after }: Write): Unlocked | undefined {
  if (resource !== 'bottlerocketshadows' || !isController(by) || !before || !after) return undefined;
  const [{ wish }, made] = [shadowFacts(before), shadowFacts(after)];
  const node = nodes.get(made.node);
  if (!node || wish.lock === undefined || wish.lock === made.wish.lock) return undefined;
  return { node, what: 'unlocked the host of', lock: wish.lock };
}

const locked = ({ ruling }: PastReign, lock: string): string | undefined =>
  ruling.kind === 'ruled' && ruling.by.version.exact === lock ? `${ruling.by.name} wanted it at ${lock}` : undefined;
