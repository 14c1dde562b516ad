import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Instant } from '../types.ts';
import { isOperator, nodeFacts, nodeOf, shadowFacts } from './facts.ts';
import { Counted } from './counted.ts';
import { type Picture, startIn } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { SEEN_AFTER } from './sight.ts';
import type { SeenHost } from './seen-host.ts';
import { arrives, type SeenNode } from './seen-node.ts';

export const concurrency: Rule = {
  name: 'concurrency',
  begin(picture) {
    const fleet = new Counted(picture);
    return {
      see(entry) {
        fleet.see(entry);
        if (entry.kind !== 'write') return NOTHING;
        const start = startIn(entry);
        if (!start) return NOTHING;
        const names = new Set([...busy(picture), ...lost(picture, entry.sentAt)]);
        const taken = counted(picture, names, entry.at);
        return [
          ...tooMany(taken, picture.terms.maxConcurrent(fleet.most({}, entry.at))),
          ...tooManyOfPolicy(picture, fleet, { node: start.node, taken, at: entry.at, sentAt: entry.sentAt }),
        ];
      },
    };
  },
};

const tooMany = (nodes: readonly string[], most: number): readonly string[] =>
  nodes.length > most
    ? [`${nodes.length} nodes in update where ${most} may be: ${nodes.toSorted().join(', ')}`]
    : NOTHING;

interface StartUnder {
  /** The node that starts, and the names of all that take places then. */
  readonly node: string;
  readonly taken: readonly string[];
  readonly at: Instant;
  readonly sentAt: Instant;
}

/** P2, P3: what the policy of the node lets be busy at once, of the nodes that it surely rules, and in how many zones. */
function tooManyOfPolicy(picture: Picture, fleet: Counted, { node, taken, at, sentAt }: StartUnder): readonly string[] {
  const { nodes, rulings, sight } = picture;
  const surelyIn = (one: SeenNode | undefined) =>
    one && sight.mustKnow(picture.ruledAt(one), sentAt) ? rulings.groupOf(one.facts) : undefined;
  const group = surelyIn(nodes.get(node));
  // The variables' budget is that over all.
  if (!group || group.name === '') return NOTHING;
  const { name, zones } = group;
  const members = taken.filter((one) => surelyIn(nodes.get(one))?.name === name);
  if (!members.includes(node)) return NOTHING;
  const zoneOf = (one: string): string => nodes.get(one)?.facts.labels[zones.key] ?? '';
  const others = new Set(members.filter((one) => one !== node).map(zoneOf));
  const isFull = !others.has(zoneOf(node)) && others.size >= zones.atOnce;
  return [
    ...tooMany(members, group.maxConcurrent(fleet.most({ group }, at))).map((what) => `${what}, of ${name}`),
    ...(isFull
      ? [`${node} starts, and as many zones are busy already as ${name} lets: ${[...others].join(', ')}`]
      : []),
  ];
}

const counted = (picture: Picture, names: ReadonlySet<string>, now: Instant): readonly string[] =>
  [...names].filter((name) => {
    const node = picture.nodes.get(name);
    return !node || !isSpared(picture, node, now);
  });

/** P16: it joined with the taint, and bears that still, as far as who decides can know, or is drained since it began with it. */
function isSpared({ sight, updates }: Picture, { facts, arrivedAt }: SeenNode, now: Instant): boolean {
  if (arrives(facts) || (arrivedAt > -Infinity && !sight.known(arrivedAt, now))) return true;
  const began = updates.get(facts.uid)?.at ?? Infinity;
  return facts.marks !== undefined && arrivedAt + SEEN_AFTER >= began;
}

/** Nodes that the Lease names, whose update is under way, or that bear marks. */
const busy = ({ lease, updates, nodes }: Picture): ReadonlySet<string> =>
  new Set([
    ...lease.permits.map(({ shadow }) => nodeOf(shadow)),
    ...[...updates.values()].map(({ node }) => node),
    ...[...nodes].filter(([, { facts }]) => facts.marks).map(([name]) => name),
  ]);

/** L6: machines that were Ready, or that others have cordoned, and surely take a place still. */
function lost({ nodes, sight, terms }: Picture, now: Instant): readonly string[] {
  const heldMs = terms.notReadyHoldMs - sight.apartMs - SEEN_AFTER;
  const isOut = ({ facts, managedAt }: SeenNode, since: Instant): boolean =>
    facts.managed && sight.mustKnow(Math.max(since, managedAt), now) && now - since < heldMs;
  return [...nodes.values()].flatMap((node) =>
    outages(node).some((since) => isOut(node, since)) ? node.facts.name : [],
  );
}

/** Since when it is not Ready, and since when others have it out. */
const outages = ({ facts, readyAt, madeAt, cordon }: SeenNode): readonly Instant[] => [
  ...(!facts.ready && readyAt > madeAt ? [readyAt] : []),
  ...(cordon?.by === 'person' ? [cordon.at] : []),
];

/**
 * What users of the cluster see: nodes that the operator keeps from them, or has down for a reboot that it asked for. Updates that an older
 * operator had under way may have been more than may be now. Where somebody deletes a shadow, nothing tells of the reboot that was on record.
 */
export const outOfService: Rule = {
  name: 'out-of-service',
  begin(picture) {
    const inherited = new Set<string>();
    const judge = (now: Instant): readonly string[] => {
      const cordoned = [...picture.nodes].filter(
        ([, { facts }]) => facts.cordoned && facts.marks?.owns.includes('cordon'),
      );
      const down = [...picture.hosts].filter(([name, host]) => isDown(picture, { name, host }, now));
      const names = new Set([...cordoned, ...down].map(([name]) => name).filter((name) => !inherited.has(name)));
      return tooMany(counted(picture, names, now), picture.mostAtOnce);
    };
    const { see } = ofWrites('nodes', ({ by, before, after, at }) => {
      const isNew = after && nodeFacts(after).cordoned && !(before && nodeFacts(before).cordoned);
      return isNew && isOperator(by) ? judge(at) : NOTHING;
    });
    return {
      see: (entry) => {
        if (entry.kind === 'write' && entry.resource === 'bottlerocketshadows') inherit(inherited, entry);
        const goesDown = entry.kind === 'host' && entry.event.kind === 'down' && entry.event.asked;
        return goesDown ? judge(entry.at) : (see?.(entry) ?? NOTHING);
      },
    };
  },
};

/** By as much one who waits may have seen the request before its host did, milliseconds. */
const ASKED_WITHIN = 60_000;

/** For a request of the operator. Of a node that has lost its label nobody waits for longer than that it returns (M8). */
function isDown(
  { nodes, updates, terms }: Picture,
  { name, host: { up, asked, askedAt = -Infinity } }: { readonly name: string; readonly host: SeenHost },
  now: Instant,
): boolean {
  const node = nodes.get(name);
  if (up || !asked || !node) return false;
  return updates.has(node.facts.uid) || now - askedAt < terms.returnTimeoutMs - ASKED_WITHIN;
}

/** Whose update is none that the operator could count: by whom it began, or because nothing tells of it any more. */
function inherit(inherited: Set<string>, write: Write): void {
  const { before, after, by } = write;
  if (before && !after) return void (isRecordLost(before, by) && inherited.add(shadowFacts(before).node));
  if (!after) return;
  const { node, state } = shadowFacts(after);
  if (by === 'older-operator' && state !== 'Idle') inherited.add(node);
  else if (startIn(write) || (before && state === 'Idle')) inherited.delete(node);
}

const isRecordLost = (shadow: KubeObject, by: string): boolean =>
  !isOperator(by) && shadowFacts(shadow).status?.record?.requested === true;
