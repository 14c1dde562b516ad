import { isDeepStrictEqual } from 'node:util';
import type { Entry, Instant } from '../types.ts';
import { isOperator, nodeFacts, type NodeFacts, nodeOf } from './facts.ts';
import type { Write } from './rule.ts';

export interface Cordon {
  readonly by: string;
  readonly at: Instant;
  /** When somebody else had uncordoned the node before, if ever. */
  readonly liftedAt: Instant | undefined;
}

/** What there is of an update before the history begins is the operator's. */
const LEFT_OVER = 'controller-0';

const HOLDER = 'whoever holds it';

/** A Node, and what the history tells of it. */
export type SeenNode = ReturnType<typeof fresh>;

const fresh = (facts: NodeFacts, at: Instant) => ({
  facts,
  /** Undefined while it is not cordoned. */
  cordon: undefined as Cordon | undefined,
  /** When somebody else uncordoned it last. */
  liftedAt: undefined as Instant | undefined,
  /** When the operator last began a drain of it. */
  drainBegan: -Infinity,
  /** When it was last proven to be drained, or that was last taken back. */
  drainedAt: -Infinity,
  /** When somebody else last changed the marks, or took them away. */
  robbedAt: -Infinity,
  /** Who has set the labels and annotations of an update. */
  signs: new Map<string, string>(),
  /** Since when it is Ready or not, held or not, managed or not. */
  readyAt: at,
  heldAt: at,
  managedAt: at,
  /** When what people ask for on it was last changed, and which failure they named before. */
  askedAt: -Infinity,
  retriedBefore: undefined as string | undefined,
  /** Since when it is called what it is, by whom a policy may go. */
  troubledAt: at,
  /** When it was first seen, and when it last lost the taint with which it had joined. */
  madeAt: at,
  arrivedAt: -Infinity,
  /** When the labels by which policies select were last changed. */
  labelsAt: -Infinity,
});

/** A taint with which machines join, so that they are updated before pods come. */
export const ARRIVING = 'brupop.bottlerocket.aws/arriving';

export const arrives = ({ taints }: NodeFacts): boolean => taints.includes(ARRIVING);

export const takesPods = ({ facts }: SeenNode): boolean => facts.ready && !facts.cordoned;

/** A kubelet's report changes nothing that is judged: what is known of the node stays the same object, and so what was found by that. */
export function unlessSame(known: NodeFacts | undefined, facts: NodeFacts): NodeFacts {
  return known && isDeepStrictEqual(known, facts) ? known : facts;
}

/** The node after a write that does not remove it. @param known the node of this name so far */
export function seenNode(known: SeenNode | undefined, facts: NodeFacts, write: Write): SeenNode {
  const node = known?.facts.uid === facts.uid ? known : fresh(facts, write.at);
  const old = node === known ? node.facts : undefined;
  node.facts = facts;
  noteCordon(node, old, write);
  noteSigns(node, old, write.by);
  if (old) noteChanges(node, old, write);
  if (old && arrives(old) && !arrives(facts)) node.arrivedAt = write.at;
  if (!old && facts.marks) node.drainBegan = write.at;
  return node;
}

function noteCordon(node: SeenNode, old: NodeFacts | undefined, { at, by }: Write): void {
  const { cordoned, marks } = node.facts;
  if (cordoned === (old?.cordoned ?? false)) return;
  if (cordoned) {
    const isLeftOver = !old?.marks && marks?.owns.includes('cordon');
    node.cordon = { at, by: isLeftOver ? LEFT_OVER : by, liftedAt: node.liftedAt };
    return;
  }
  node.cordon = undefined;
  node.liftedAt = isOperator(by) ? undefined : at;
}

function noteSigns({ facts, signs }: SeenNode, old: NodeFacts | undefined, by: string): void {
  for (const [sign, value] of facts.signs) if (old?.signs.get(sign) !== value) signs.set(sign, by);
  for (const sign of signs.keys()) if (!facts.signs.has(sign)) signs.delete(sign);
}

function noteChanges(node: SeenNode, old: NodeFacts, { at, by }: Write): void {
  const { ready, managed, marks } = node.facts;
  if (old.ready !== ready) node.readyAt = at;
  if (old.managed !== managed) node.managedAt = at;
  noteDecided(node, old, at);
  if (old.troubles.join() !== node.facts.troubles.join()) node.troubledAt = at;
  if (old.labels !== node.facts.labels && groupOf(old) !== groupOf(node.facts)) node.labelsAt = at;
  if (old.marks?.text !== marks?.text) noteMarks(node, old, { at, by });
}

/** What people have said on the node. */
function noteDecided(node: SeenNode, old: NodeFacts, at: Instant): void {
  const { held, isAskedFor, retryOf } = node.facts;
  if (old.held !== held) node.heldAt = at;
  if (old.isAskedFor !== isAskedFor || old.retryOf !== retryOf) node.askedAt = at;
  if (old.retryOf !== retryOf) node.retriedBefore = old.retryOf;
}

/** What the operator itself labels a node with selects nothing. */
const groupOf = ({ labels }: NodeFacts): string =>
  Object.entries(labels)
    .filter(([key]) => !key.includes('brupop') && !key.startsWith('node.kubernetes.io/'))
    .map(([key, value]) => `${key}=${value}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join();

function noteMarks(node: SeenNode, old: NodeFacts, { at, by }: Pick<Write, 'at' | 'by'>): void {
  if (old.marks && !isOperator(by)) node.robbedAt = at;
  if (old.marks && !node.facts.marks) noteHolder(node);
  if (drainOf(old) !== drainOf(node.facts)) node.drainBegan = at;
  if (old.marks?.proof !== node.facts.marks?.proof) node.drainedAt = at;
}

/** M6: the cordon that a release leaves on a node which is held is that of whoever holds it. */
function noteHolder(node: SeenNode): void {
  if (node.cordon && node.facts.held) node.cordon = { ...node.cordon, by: HOLDER };
}

const drainOf = ({ marks }: NodeFacts): string => (marks ? `${marks.id} ${marks.newestPod}` : '');

/** The proof of a drain that the write sets: another than stood there before. Undefined where it sets none. */
export function proofSetBy(write: Write): string | undefined {
  const { old, made } = nodesOf(write);
  const proof = made?.marks?.proof;
  return proof === old?.marks?.proof ? undefined : proof;
}

/** Name of the node that the entry is about: its Node, its shadow or its agent. */
export function nodeIn(entry: Entry): string | undefined {
  if (entry.kind === 'process') return /agent-(.*)$/.exec(entry.process)?.[1];
  if (entry.kind !== 'write') return undefined;
  if (entry.resource === 'nodes') return entry.name;
  return entry.resource === 'bottlerocketshadows' ? nodeOf(entry.name) : undefined;
}

/** The node of a write, after it and before it. */
export const nodesOf = ({ before, after }: Write): { readonly old?: NodeFacts; readonly made?: NodeFacts } => ({
  ...(before && { old: nodeFacts(before) }),
  ...(after && { made: nodeFacts(after) }),
});
