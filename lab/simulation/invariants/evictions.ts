import type { Instant } from '../types.ts';
import { at as within, isApiserver, podFacts, type PodFacts, text } from './facts.ts';
import { stepIn } from './obeyed.ts';
import type { Picture } from './picture.ts';
import type { Group } from './rulings.ts';
import { clock, NOTHING, type Rule, type Write } from './rule.ts';
import { nodesOf, type SeenNode } from './seen-node.ts';

/** So soon a replica knows that a drain is over, where nothing has been in the way of its watches, milliseconds. */
const HEARS_WITHIN = 5000;
/** Times on a Node are whole seconds. */
const ROUNDED_MS = 2000;

/** Whose work finishes on a node, and until when at least. */
interface Wait extends Pick<NonNullable<Group['letsFinish']>, 'selects'> {
  readonly until: Instant;
}

/** M2, M11: pods are evicted from no node but one that a drain has cordoned, and none while its policy lets its work finish. */
export const evictions: Rule = {
  name: 'evictions',
  begin(picture) {
    // By name of the node: since when no drain has it cordoned, and whose work its drain lets finish.
    const open = new Map<string, Instant>();
    const waits = new Map<string, Wait>();
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'nodes') noteOpen(open, entry);
        const step = stepIn(picture, entry);
        if (step) noteWait(waits, waitOn(picture, step.node, entry), step.node);
        if (entry.resource !== 'pods' || entry.subresource !== 'eviction' || !isApiserver(entry.by)) return NOTHING;
        const name = text(within(entry.before, 'spec', 'nodeName')) ?? '';
        return [...fromOpen(picture, open.get(name), entry), ...early(picture, waits.get(name), entry)];
      },
    };
  },
};

function noteOpen(open: Map<string, Instant>, write: Write): void {
  const { made } = nodesOf(write);
  if (made?.marks && made.cordoned) open.delete(write.name);
  else if (!open.has(write.name)) open.set(write.name, write.at);
}

function fromOpen({ sight }: Picture, since: Instant | undefined, { by, name, sentAt }: Write): readonly string[] {
  if (since === undefined) return NOTHING;
  const isHeard = sight.isClear(sentAt) ? since + HEARS_WITHIN <= sentAt : sight.known(since, sentAt);
  return isHeard ? [`${by} evicted ${name}, and no drain has its node cordoned since ${clock(since)}`] : NOTHING;
}

function noteWait(waits: Map<string, Wait>, wait: Wait | undefined, { facts: { name } }: SeenNode): void {
  if (wait) waits.set(name, wait);
  else waits.delete(name);
}

/** By the policy that rules the node when its drain may begin. One that has begun before stops for nobody. */
function waitOn(picture: Picture, node: SeenNode, { sentAt }: Write): Wait | undefined {
  const { letsFinish } = picture.rulings.groupOf(node.facts) ?? {};
  if (!letsFinish || node.facts.marks || !picture.sight.mustKnow(picture.ruledAt(node), sentAt)) return undefined;
  return { selects: letsFinish.selects, until: sentAt + letsFinish.upToMs };
}

/** What has come to the node since may find that its drain waits for nobody. */
function early(picture: Picture, wait: Wait | undefined, { by, name, sentAt, before }: Write): readonly string[] {
  if (!wait || !before || sentAt + picture.sight.apartMs + ROUNDED_MS >= wait.until) return NOTHING;
  return wait.selects(before) && isKept(picture, podFacts(before))
    ? [`${by} evicted ${name}, whose work finishes until ${clock(wait.until)}`]
    : NOTHING;
}

function isKept({ nodes, pods }: Picture, { uid, node = '', due }: PodFacts): boolean {
  const bound = pods.get(uid)?.bound ?? Infinity;
  return Number.isNaN(due) && bound < (nodes.get(node)?.drainBegan ?? -Infinity);
}
