import { isController, isOperator, LEASE, leaseFacts, leaseOf, RELEASED } from './facts.ts';
import type { Entry, Instant } from '../types.ts';
import { type Picture, startIn } from './picture.ts';
import { Robbed } from './robbed.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { isReboot } from './seen-host.ts';
import { nodeIn, nodesOf, type SeenNode } from './seen-node.ts';

/**
 * L1 to L4 and L12, as far as the world shows them: an update begins, a node is marked and a host is asked to reboot only while the Lease names the node.
 * Of an update that an older operator began nobody has written that, and what had a permit that somebody has taken away goes on.
 */
export const permits: Rule = {
  name: 'permits',
  begin(picture) {
    const since = new Map<string, Instant>();
    const robbed = new Robbed();
    const touched = new Touched();
    const goesOn = (name: string): boolean => robbed.has(picture.nodes.get(name)?.facts.uid ?? '');
    const disturbed = (name: string) => (goesOn(name) ? NOTHING : unpermitted(picture, name));
    const started = (name: string, sentAt: Instant) =>
      robbed.allowed(picture.nodes.get(name)?.facts.uid ?? '', sentAt, picture.sight)
        ? NOTHING
        : unpermitted(picture, name);
    return {
      see(entry) {
        robbed.see(entry);
        noteUnderWay(picture, entry, since);
        if (entry.kind === 'host') return isReboot(entry.event) ? disturbed(entry.node) : NOTHING;
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'leases')
          return entry.name === LEASE ? [...leftOff(picture, entry, since), ...touched.swap(picture, entry)] : NOTHING;
        touched.see(entry);
        const start = startIn(entry);
        if (start) return started(start.node, entry.sentAt);
        const name = markedIn(entry);
        return name === undefined ? NOTHING : disturbed(name);
      },
    };
  },
};

/** @param since by UID of the node, since when an update is under way there, whoever began it */
function noteUnderWay(picture: Picture, entry: Entry, since: Map<string, Instant>): void {
  const node = picture.nodes.get(nodeIn(entry) ?? '');
  if (!node) return;
  const { uid } = node.facts;
  if (!isUnderWay(picture, node)) since.delete(uid);
  else if (!since.has(uid)) since.set(uid, entry.at);
}

/** It bears marks, or is told to go on and its agent runs. */
function isUnderWay(picture: Picture, { facts }: SeenNode): boolean {
  const isTold = (picture.shadowOf(facts)?.state ?? 'Idle') !== 'Idle';
  const goesOn = isTold && facts.ready && picture.agentOf(facts.name).runs;
  return facts.managed && (facts.marks !== undefined || goesOn);
}

/** L12: where an update is under way without a permit, the swap that makes the list gives it one, or one before any other node's. */
function leftOff({ nodes, sight }: Picture, write: Write, since: ReadonlyMap<string, Instant>): readonly string[] {
  const { by, before, after, sentAt } = write;
  if (!isController(by) || !before || !after) return NOTHING;
  const [old, made] = [leaseFacts(before), leaseFacts(after)];
  const had = new Set(old.permits.map(({ nodeUid }) => nodeUid));
  const isMade = made.hasList && !old.hasList;
  const isStart = made.permits.some(({ nodeUid }) => !had.has(nodeUid) && !since.has(nodeUid));
  if (!isMade && !isStart) return NOTHING;
  const listed = new Set(made.permits.map(({ nodeUid }) => nodeUid));
  return [...nodes.values()]
    .filter(({ facts: { uid } }) => !listed.has(uid) && sight.mustKnow(since.get(uid) ?? Infinity, sentAt))
    .map(({ facts: { name } }) => `an update is under way on ${name}, and it is left off the list`);
}

/** The node that is marked by this write, and was not. */
function markedIn(write: Write): string | undefined {
  const { old, made } = write.resource === 'nodes' ? nodesOf(write) : {};
  return old && !old.marks && made?.marks && isOperator(write.by) ? made.name : undefined;
}

function unpermitted({ nodes, lease, inherited }: Picture, name: string): readonly string[] {
  const node = nodes.get(name);
  if (!node || inherited.has(name)) return NOTHING;
  const isNamed = lease.permits.some(({ nodeUid }) => nodeUid === node.facts.uid);
  return isNamed ? NOTHING : [`${name} is updated, and the Lease does not name it`];
}

/** L3: before its permit is given back a Node that is there still is written to, so that a drain which looked at it before that gets 409. */
class Touched {
  /** By UID, since they got their permits, and since their updates began. */
  readonly #nodes = new Set<string>();

  see(write: Write): void {
    const { resource, by, before, after } = write;
    for (const uid of startIn(write)?.owners ?? []) this.#nodes.delete(uid);
    if (resource !== 'nodes' || !before || !after || !isController(by)) return;
    const [was, is] = [before, after].map(({ metadata }) => metadata.annotations?.[RELEASED]);
    if (was !== is) this.#nodes.add(after.metadata.uid);
  }

  swap({ nodes }: Picture, { by, before, after }: Write): readonly string[] {
    const listed = (lease: Write['after']) => new Set(leaseOf(lease).permits.map(({ nodeUid }) => nodeUid));
    const [had, have] = [listed(before), listed(after)];
    for (const uid of have) if (!had.has(uid)) this.#nodes.delete(uid);
    if (!isController(by)) return NOTHING;
    const isFreed = (uid: string): boolean => had.has(uid) && !have.has(uid);
    const there = [...nodes.values()].filter(({ facts: { uid } }) => isFreed(uid) && !this.#nodes.has(uid));
    return there.map(({ facts: { name } }) => `the permit of ${name} is given back, and its Node is as it was`);
  }
}
