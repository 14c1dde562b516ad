import { type CoveredPods, MAX_COVERED } from '../api/shadow/displaced.ts';
import type { PodDisruptionBudget } from '../kube/objects.ts';
import { keyOf } from '../kube/reflector.ts';
import { selects } from '../lib/selector.ts';
import type { DrainPod } from './pod.ts';

/**
 * The budgets of a drain's pods, and which of these it has evicted. Another drain whose pod waits for one of them waits for this drain, until what was
 * evicted is back.
 */
export type Cover = readonly CoveredPods[];

/** Of those that nobody has told to end: fifty in all, a pod once for each of its budgets. */
export function coverOf(pods: readonly DrainPod[], budgets: readonly PodDisruptionBudget[]): Cover {
  const pairs = pods
    .filter(stays)
    .flatMap((pod) => budgets.filter((one) => covers(one, pod)).map((one) => ({ name: keyOf(one), uid: pod.uid })));
  return [...Map.groupBy(pairs.slice(0, MAX_COVERED), ({ name }) => name)].map(([name, own]) => ({
    name,
    pods: own.length,
    left: own.map(({ uid }) => uid),
  }));
}

/** With what a drain of the same attempt has evicted before, as in another boot. */
export function withEvicted(cover: Cover, earlier: Cover): Cover {
  const gone = new Map(earlier.map(({ name, pods, left }) => [name, pods - left.length]));
  const names = new Set(cover.map(({ name }) => name));
  const others = [...gone].flatMap(([name, pods]) => (pods > 0 && !names.has(name) ? [{ name, pods, left: [] }] : []));
  const all = [...cover.map((one) => ({ ...one, pods: one.pods + (gone.get(one.name) ?? 0) })), ...others];
  return all.slice(0, MAX_COVERED);
}

/** As it is while these pods are on the node. The same object where nothing has changed. */
export function coverNow(cover: Cover, pods: readonly DrainPod[]): Cover {
  const there = new Set(pods.filter(stays).map(({ uid }) => uid));
  if (cover.every(({ left }) => left.every((uid) => there.has(uid)))) return cover;
  return cover.map((one) => ({ ...one, left: one.left.filter((uid) => there.has(uid)) }));
}

export function covers({ metadata, spec }: PodDisruptionBudget, pod: DrainPod): boolean {
  return metadata.namespace === pod.namespace && selects(spec?.selector, pod.labels);
}

const stays = ({ due }: DrainPod): boolean => due === undefined;
