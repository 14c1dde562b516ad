import type { KubeObject, Node, Pod } from '../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { podFacts } from '../../lab/simulation/invariants/facts.ts';
import { auditOf, isOperator, written } from './audit.ts';
import { outagesIn } from './controlplane/outages.ts';
import type { Fleet, Reboot } from './fleet.ts';
import { refusals } from './refusals.ts';
import type { Scene } from './scene.ts';
import type { Sighting } from './sighting.ts';

export interface Allowed {
  /** Most nodes that may bear the operator's marks at one moment. @default 1 */
  readonly concurrency?: number;
  /** Pods that may be on a node when it goes down, besides those that no drain moves. @default none */
  readonly stays?: (pod: Pod) => boolean;
}

/** What must hold in every scenario, whatever goes wrong in it, told by the API server's audit log and its watches alone: a line per breach. */
export async function invariants(
  { cluster, fleet, history }: Pick<Scene, 'cluster' | 'history'> & { readonly fleet: Pick<Fleet, 'reboots'> },
  allowed: Allowed = {},
): Promise<readonly string[]> {
  const events = await auditOf(cluster);
  const seen = [...written(events), ...history.sightings];
  return [...breaches(seen, fleet.reboots, allowed), ...refusals(events, await outagesIn(cluster.dir))];
}

export function breaches(
  sightings: readonly Sighting[],
  reboots: readonly Reboot[],
  { concurrency = 1, stays = () => false }: Allowed,
): readonly string[] {
  const nodes = sightings.filter(isOf<Node>('nodes')).toSorted(inOrder);
  const lives = livesOf(sightings.filter(isOf<Pod>('pods'))).filter(({ pod }) => !stays(pod));
  return [
    ...tooManyMarked(nodes, concurrency),
    ...takenCordons(nodes),
    ...reboots.flatMap((reboot) => notEmpty(reboot, lives, newestPodOf(reboot, nodes))),
  ];
}

type Of<T extends KubeObject> = Sighting & { readonly object: T };

/** Objects out of a list bear no kind; only a Pod has containers. */
function isOf<T extends KubeObject>(plural: 'nodes' | 'pods') {
  return (sighting: Sighting): sighting is Of<T> =>
    'containers' in (sighting.object.spec ?? {}) === (plural === 'pods');
}

/** By resourceVersion, which is one for all objects; of two views of a state the one whose author is known. */
function inOrder(a: Sighting, b: Sighting): number {
  const versions = Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion);
  return versions || Number(b.by !== undefined) - Number(a.by !== undefined);
}

function tooManyMarked(nodes: readonly Of<Node>[], concurrency: number): readonly string[] {
  const marked = new Map<string, string>();
  const found = new Set<string>();
  for (const { object, gone } of nodes) {
    const { uid, name, annotations = {} } = object.metadata;
    if (gone || annotations[MARKS_ANNOTATION] === undefined) marked.delete(uid);
    else marked.set(uid, name);
    if (marked.size > concurrency) found.add(`marked at once: ${[...marked.values()].toSorted().join(', ')}`);
  }
  return [...found];
}

/** A cordon whose author is not known counts as nobody's. */
function takenCordons(nodes: readonly Of<Node>[]): readonly string[] {
  const authors = new Map<string, string>();
  return nodes.flatMap(({ object: { metadata, spec }, gone, by = '' }) => {
    const { uid, name } = metadata;
    const author = authors.get(uid);
    if (spec?.unschedulable) {
      authors.set(uid, author ?? by);
      return [];
    }
    authors.delete(uid);
    const taken = author && !isOperator(author) && isOperator(by) && !gone;
    return taken ? [`${name}: the cordon of ${author} was taken away by ${by}`] : [];
  });
}

/** When a pod was on its node; milliseconds since the Unix epoch. */
interface Life {
  readonly pod: Pod;
  readonly fromMs: number;
  readonly toMs: number;
}

function livesOf(pods: readonly Of<Pod>[]): readonly Life[] {
  const byUid = Map.groupBy(pods, ({ object }) => object.metadata.uid);
  return [...byUid.values()].flatMap((seen) => {
    const bound = seen.filter(({ object }) => object.spec?.nodeName !== undefined);
    const over = seen.filter(({ object, gone }) => gone || hasFinished(object));
    const pod = bound[0]?.object;
    return pod ? [{ pod, fromMs: earliest(bound), toMs: earliest(over) }] : [];
  });
}

function earliest(sightings: readonly Sighting[]): number {
  return Math.min(...sightings.map(({ atMs }) => atMs));
}

function hasFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Created later than this, a pod came when the drain of the node had begun: as its marks say, Infinity where they do not. */
function newestPodOf({ node, atMs }: Reboot, nodes: readonly Of<Node>[]): number {
  const last = nodes.findLast(({ object, atMs: seenMs }) => object.metadata.name === node && seenMs <= atMs);
  const marks = last?.object.metadata.annotations?.[MARKS_ANNOTATION];
  const { newestPod = '' } = JSON.parse(marks ?? '{}') as { newestPod?: string };
  return Date.parse(newestPod) || Infinity;
}

function notEmpty({ node, atMs }: Reboot, lives: readonly Life[], newestPodMs: number): readonly string[] {
  return (
    lives
      .filter(({ pod, fromMs, toMs }) => pod.spec?.nodeName === node && fromMs <= atMs && atMs < toMs)
      // Those that tolerate the cordon would come back for ever, so no drain waits for what has come since.
      .filter(({ pod }) => isDrained(pod) && !(podFacts(pod).toleratesCordon && createdMs(pod) > newestPodMs))
      .map(({ pod: { metadata } }) => `${node} went down under ${metadata.namespace}/${metadata.name}`)
  );
}

function createdMs({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

/** Pods of DaemonSets and static pods stay where they are. */
function isDrained({ metadata }: Pod): boolean {
  const ofDaemonSet =
    metadata.ownerReferences?.some(({ kind, controller }) => kind === 'DaemonSet' && controller) ?? false;
  return !ofDaemonSet && metadata.annotations?.['kubernetes.io/config.mirror'] === undefined;
}
