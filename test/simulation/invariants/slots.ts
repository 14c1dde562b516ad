import type { Instant, RequestEntry } from '../types.ts';
import { Recent } from './concurrency.ts';
import { isController, LEASE, leaseFacts, nodeFacts, type NodeFacts, type ShadowFacts } from './facts.ts';
import { Earlier, noteDeletion } from './marks.ts';
import { type Picture, startIn } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';
import { Order } from './swaps.ts';

/** An agent that has just begun was not there yet for who looked, milliseconds. */
const UNSEEN = 60_000;

/** L1, L2, L6: in which order a node comes to its slot and its start. */
export const slots: Rule = {
  name: 'slots',
  begin(picture) {
    const order = new Order();
    const capacity = new Recent();
    const conflicts = new Map<string, Instant>();
    return {
      see(entry) {
        order.next();
        if (entry.kind === 'request') noteConflict(order, conflicts, entry);
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'nodes') capacity.add(entry.at, picture.terms.maxConcurrent(picture.managed()));
        if (isList(entry)) return taken(order, entry, capacity.most(entry.at));
        if (entry.resource !== 'bottlerocketshadows') return NOTHING;
        const found = started({ picture, order, conflicts }, entry);
        order.note(`shadow ${entry.name}`);
        return found;
      },
    };
  },
};

const isList = ({ resource, name }: Write): boolean => resource === 'leases' && name === LEASE;

function noteConflict(
  order: Order,
  conflicts: Map<string, Instant>,
  request: RequestEntry & { readonly at: Instant },
): void {
  const { at, by, verb, resource, name, subresource, code } = request;
  const isSpec = resource === 'bottlerocketshadows' && verb === 'patch' && subresource === undefined;
  if (!isSpec || code !== 409 || !isController(by)) return;
  order.note(`conflict ${by} ${name}`);
  conflicts.set(`${by} ${name}`, at);
}

/** Slots that stay in the list as they were are not taken anew. */
function taken(order: Order, { by, before, after }: Write, most: number): readonly string[] {
  if (!after) return NOTHING;
  const [old, made] = [before && leaseFacts(before), leaseFacts(after)];
  const known = new Set(old?.slots.map(({ text }) => text));
  const news = made.slots.filter(({ text }) => !known.has(text));
  for (const { nodeUid } of news) order.note(`slot ${nodeUid}`);
  const isMore = made.slots.length > (old?.slots.length ?? 0);
  return isController(by) && isMore && made.slots.length > most
    ? [`${by} took a slot, and ${made.slots.length} are taken where ${most} may be`]
    : NOTHING;
}

interface Taking {
  readonly picture: Picture;
  readonly order: Order;
  /** When a controller was last answered a conflict, by its name and that of the shadow. */
  readonly conflicts: ReadonlyMap<string, Instant>;
}

function started({ picture: { nodes, lease }, order, conflicts }: Taking, write: Write): readonly string[] {
  const shadow = startIn(write);
  const node = shadow && nodes.get(shadow.node);
  if (!node || !shadow.owners.includes(node.facts.uid)) return NOTHING;
  const { uid } = node.facts;
  const said = `${write.by} started ${shadow.node}`;
  if (!lease.slots.some(({ nodeUid }) => nodeUid === uid)) return [`${said} without a slot`];
  if (!order.isSince(`slot ${uid}`, `shadow ${write.name}`))
    return [`${said}, whose shadow had changed since its slot was taken`];
  const conflict = `${write.by} ${write.name}`;
  // What was under way for long was sent before a conflict that something else has met.
  const isOlder = write.sentAt < (conflicts.get(conflict) ?? -Infinity);
  return isOlder || order.isSince(`slot ${uid}`, `conflict ${conflict}`)
    ? NOTHING
    : [`${said} after a conflict, and took no slot anew`];
}

/** L3, L4: what must be so before a slot is given back. */
export const givenBack: Rule = {
  name: 'given-back',
  begin(picture) {
    const order = new Order();
    const deletions = new Map<string, Instant>();
    const earlier = new Earlier(picture);
    return {
      see(entry) {
        order.next();
        if (entry.kind === 'request') noteRefusal(order, entry);
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'nodes') noteTouch(order, entry);
        if (entry.resource === 'bottlerocketshadows') {
          noteFence(order, entry);
          noteDeletion(deletions, entry);
          earlier.see(entry);
        }
        return isList(entry) ? changed({ picture, order, deletions, earlier }, entry) : NOTHING;
      },
    };
  },
};

function noteTouch(order: Order, { before, after }: Write): void {
  if (!after) return;
  const made = nodeFacts(after);
  if (made.released !== undefined && made.released !== (before && nodeFacts(before).released))
    order.note(`touched ${made.uid}`);
}

/** A write of spec, or a bump: what others have read of the shadow before it is worth nothing any more. */
function noteFence(order: Order, { by, name, before, after, subresource }: Write): void {
  // What was sent to a shadow that has been deleted since fits no other of its name.
  if (!before) order.note(`made ${name}`);
  if (!before || !after || subresource !== undefined || !isController(by)) return;
  order.note(`fenced ${name} by ${by}`);
}

/** A write of spec that certainly has not landed: there is nothing to fence. */
function noteRefusal(order: Order, { by, verb, resource, name, subresource, code }: RequestEntry): void {
  const isOfSpec = resource === 'bottlerocketshadows' && verb === 'patch' && subresource === undefined;
  if (isOfSpec && code >= 400 && code < 500) order.note(`refused ${name} to ${by}`);
}

function changed(seen: Seen, { by, at, sentAt, before, after }: Write): readonly string[] {
  const { picture, order } = seen;
  if (!before || !after) return NOTHING;
  const [old, made] = [leaseFacts(before), leaseFacts(after)];
  if (old.holder !== made.holder) order.note(`led by ${by}`);
  const texts = new Set(old.slots.map(({ text }) => text));
  for (const { nodeUid, text } of made.slots) if (!texts.has(text)) order.note(`taken ${nodeUid}`);
  if (!isController(by)) return NOTHING;
  const kept = new Set(made.slots.map(({ nodeUid }) => nodeUid));
  return old.slots
    .filter(({ nodeUid }) => !kept.has(nodeUid))
    .flatMap(({ nodeUid, shadow }) => {
      const node = picture.nodes.get(shadow.replace(/^brs-/, ''));
      if (node?.facts.uid !== nodeUid) return [];
      const why = unready({ ...seen, by, at, sentAt }, node);
      return why === undefined ? [] : [`${by} gave back the slot of ${node.facts.name}, ${why}`];
    });
}

interface Seen {
  readonly picture: Picture;
  readonly order: Order;
  readonly deletions: ReadonlyMap<string, Instant>;
  readonly earlier: Earlier;
}

interface Giving extends Seen {
  readonly by: string;
  readonly at: Instant;
  readonly sentAt: Instant;
}

function unready(giving: Giving, { facts }: SeenNode): string | undefined {
  const { picture, order } = giving;
  const { uid, marks } = facts;
  if (marks) return 'which bears marks';
  if (!order.isSince(`touched ${uid}`, `taken ${uid}`)) return 'and had not touched its Node';
  const shadow = picture.shadowOf(facts);
  return needed(giving, facts, shadow) ?? (shadow && !isFenced(giving, facts) ? UNFENCED : undefined);
}

const UNFENCED = 'which it has found taken, and what others may have sent may yet land';

function needed(giving: Giving, facts: NodeFacts, shadow: ShadowFacts | undefined): string | undefined {
  const { picture, at, sentAt, earlier } = giving;
  if (shadow ? !shadow.active : wasAtRest(giving, facts)) return undefined;
  const { runs, since } = picture.agentOf(facts.name);
  const isManned = runs && at - since > UNSEEN && picture.sight.known(since, at);
  if (isManned) return `whose agent runs, and ${shadow ? 'whose update is on' : 'which has no shadow'}`;
  return shadow && !earlier.wasLeft(shadow, facts, sentAt) ? 'whose update has not ended' : undefined;
}

/** L3 (a) held until its shadow was deleted, and who gave the slot back need not know of that. */
function wasAtRest({ picture, order, deletions, by, sentAt }: Giving, { uid, name }: NodeFacts): boolean {
  const deletedAt = deletions.get(`brs-${name}`);
  if (deletedAt === undefined || picture.sight.known(deletedAt, sentAt)) return false;
  return [`fenced brs-${name} by ${by}`, `refused brs-${name} to ${by}`].some((what) =>
    order.isSince(what, `taken ${uid}`),
  );
}

const isFenced = ({ order, by }: Giving, { uid, name }: NodeFacts): boolean =>
  [`taken ${uid}`, `fenced brs-${name} by ${by}`, `made brs-${name}`].some((what) =>
    order.isSince(what, `led by ${by}`),
  );
