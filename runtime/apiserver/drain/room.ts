import { listAll, listPages, queryOf, SMALL_PAGE_SIZE } from '../../kube/collection.ts';
import type { Node } from '../../kube/objects.ts';
import { NODES_PATH, onNode, podsPath } from '../../kube/resources.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { LB_LABEL, UPDATING_LABEL } from '../../api/marks/names.ts';
import { inParallel } from '../../lib/parallel.ts';
import { type Candidate, candidateOf } from '../../drain/needs.ts';
import { filterPods, othersLeft, termsAhead } from '../../drain/filter.ts';
import { type DrainPod, podsOn } from '../../drain/pod.ts';
import { freeOn, isWanted, lackOf, type Look, offered, type Room, roomFor, takenBy } from '../../drain/room.ts';
import type { Amounts } from '../../drain/requests.ts';
import type { Ports } from '../ports.ts';

/** Mostly the first few have room. A Node with its list of images takes tens of KiB. */
const PAGE_SIZE = 10;
/** Nodes whose pods are read in one look at most. */
const MOST_NODES = 100;
/** Drains that come first, at most, since a look that is gone on with keeps their pods; and how many of these are read at once. */
const MOST_DRAINS = 20;
const AT_ONCE = 5;

/** What the pods need that a drain moves, and no other node has free. */
export interface Lack {
  readonly text: string;
  /** Where not all nodes were looked at: the next one may have room. */
  readonly next?: Look;
}

interface Search {
  readonly nodeName: string;
  /** What its drain moves. */
  readonly pods: readonly DrainPod[];
  /** What drains move that have begun. @default nothing */
  readonly ahead?: () => Promise<readonly DrainPod[]>;
  /** It is gone on with while the same pods are to move. */
  readonly last?: Look | undefined;
}

/**
 * Undefined where all find a place. It reads nodes by the page, and the pods of those alone that match, until each pod has found its place.
 * @throws as `KubeTransport.request`, GoneError where the earlier look was too long ago
 */
export async function lackOfRoom({ transport }: Pick<Ports, 'transport'>, search: Search): Promise<Lack | undefined> {
  const before = await lookFor(search);
  if (!before) return undefined;
  let { room, looked } = before;
  const until = looked + MOST_NODES - PAGE_SIZE;
  let next = '';
  for await (const { items, metadata } of candidates(transport, search.nodeName, before.from)) {
    for (const node of items.filter((one) => one !== undefined)) {
      if (!isWanted(room, node)) continue;
      looked += 1;
      room = offered(room, node, freeOn(node, await takenOn(transport, node.name)));
    }
    next = metadata.continue ?? '';
    if (room.left.length === 0 || looked > until) break;
  }
  return lackIn({ room, looked, from: next });
}

/** Undefined where nothing needs room. */
async function lookFor({ pods, ahead, last }: Search): Promise<Look | undefined> {
  const room = roomFor(pods);
  if (room.left.length === 0) return undefined;
  if (last && namesIn(last.room) === namesIn(room)) return last;
  return { room: ahead ? roomFor(pods, await ahead()) : room, looked: 0, from: '' };
}

const namesIn = ({ moving }: Room): string => moving.map(({ name }) => name).join();

function lackIn(look: Look): Lack | undefined {
  const text = lackOf(look.room);
  if (text === undefined) return undefined;
  return look.from === ''
    ? { text }
    : { text: `${text} (on ${look.looked} nodes; others are looked at next)`, next: look };
}

/** What drains of other nodes have to move that have begun, or are about to: who is to begin comes after them. */
export async function movingElsewhere(
  { transport, namespace, clock }: Pick<Ports, 'transport' | 'namespace' | 'clock'>,
  but: string,
): Promise<readonly DrainPod[]> {
  const marked = await inParallel(MARKED, MARKED.length, (labelSelector) =>
    listAll<Node, string>(transport, {
      path: NODES_PATH,
      query: queryOf({ labelSelector }),
      project: (node) => (isToMove(node) ? node.metadata.name : ''),
      pageSize: PAGE_SIZE,
    }),
  );
  const others = [...new Set(marked.flat())].filter((name) => name !== '' && name !== but).slice(0, MOST_DRAINS);
  const terms = termsAhead(namespace, clock.now());
  const pods = await inParallel(others, AT_ONCE, (name) => listAll(transport, podsOn(name)));
  return pods.flatMap((those) => othersLeft(filterPods(those, terms)));
}

/** Nodes that bear marks have one of these labels. */
const MARKED = [UPDATING_LABEL, LB_LABEL];

function isToMove(node: Node): boolean {
  const marks = readMarks(node);
  return marks !== undefined && marks.drained === undefined;
}

const candidates = (transport: Ports['transport'], but: string, from: string) =>
  listPages<Node, Candidate | undefined>(transport, {
    path: NODES_PATH,
    query: queryOf({ fieldSelector: 'spec.unschedulable=false' }),
    project: (node) => (node.metadata.name === but || isToMove(node) ? undefined : candidateOf(node)),
    pageSize: PAGE_SIZE,
    from,
  });

/** From the API server's cache, which has pods by their nodes: what is a second old is good enough for a guess of what the scheduler will do. */
async function takenOn(transport: Ports['transport'], nodeName: string): Promise<readonly Amounts[]> {
  const query = { ...queryOf({ fieldSelector: onNode(nodeName) }), resourceVersion: '0' };
  return (await listAll(transport, { path: podsPath(), query, project: takenBy, pageSize: SMALL_PAGE_SIZE })).flat();
}
