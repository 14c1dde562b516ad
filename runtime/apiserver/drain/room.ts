import { listAll, listPages, queryOf, SMALL_PAGE_SIZE } from '../../kube/collection.ts';
import type { Node } from '../../kube/objects.ts';
import { NODES_PATH, onNode, podsPath } from '../../kube/resources.ts';
import { type Candidate, candidateOf } from '../../drain/needs.ts';
import type { DrainPod } from '../../drain/pod.ts';
import { freeOn, isWanted, lackOf, offered, roomFor, takenBy } from '../../drain/room.ts';
import type { Amounts } from '../../drain/requests.ts';
import type { Ports } from '../ports.ts';

/** Mostly the first few have room. A Node with its list of images takes tens of KiB. */
const PAGE_SIZE = 10;
/** Nodes whose pods are read for one drain at most. Where so many have no room, nothing is said: the next one may. */
const MOST_NODES = 100;

/**
 * What the pods need that a drain moves, and no other node has free; undefined where all find a place, or too many nodes would have to be looked at. It reads
 * nodes by the page, and the pods of those alone that match, until each pod has found its place. @throws as `KubeTransport.request`
 */
export async function lackOfRoom(
  { transport }: Pick<Ports, 'transport'>,
  nodeName: string,
  pods: readonly DrainPod[],
): Promise<string | undefined> {
  let room = roomFor(pods);
  if (room.left.length === 0) return undefined;
  let looked = 0;
  const query = queryOf({ fieldSelector: 'spec.unschedulable=false' });
  for await (const { items } of listPages<Node, Candidate | undefined>(transport, {
    path: NODES_PATH,
    query,
    project: candidateOf,
    pageSize: PAGE_SIZE,
  })) {
    for (const node of items) {
      if (!node || node.name === nodeName || !isWanted(room, node)) continue;
      if (looked++ >= MOST_NODES) return undefined;
      room = offered(room, node, freeOn(node, await takenOn(transport, node.name)));
      if (room.left.length === 0) return undefined;
    }
  }
  return lackOf(room);
}

/** From the API server's cache, which has pods by their nodes: what is a second old is good enough for a guess of what the scheduler will do. */
async function takenOn(transport: Ports['transport'], nodeName: string): Promise<readonly Amounts[]> {
  const query = { ...queryOf({ fieldSelector: onNode(nodeName) }), resourceVersion: '0' };
  return (await listAll(transport, { path: podsPath(), query, project: takenBy, pageSize: SMALL_PAGE_SIZE })).flat();
}
