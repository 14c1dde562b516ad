import type { Node, Pod } from '../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import type { ShadowCondition } from '../../runtime/api/shadow/model.ts';
import { nodeNameOf, shadowName } from '../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/api/shadow/semver.ts';
import { verdictOf } from '../../lab/sim/view/verdict.ts';
import type { History, StoredShadow } from './history.ts';

export function shadowOf({ shadows }: History, node: string): StoredShadow | undefined {
  return shadows.get(shadowName(node));
}

/** What the controller says of a node. */
export function verdict(history: History, node: string): ShadowCondition | undefined {
  return verdictOf(shadowOf(history, node));
}

/** A node, besides those named, that is wanted in any other state than Idle. */
export function updating({ shadows }: History, besides: readonly string[] = []): string | undefined {
  const names = [...shadows.values()]
    .filter(({ spec }) => spec.state !== 'Idle')
    .map(({ metadata }) => nodeNameOf(metadata.name));
  return names.find((name) => name !== undefined && !besides.includes(name));
}

export function podsOn({ pods }: History, node: string): readonly Pod[] {
  return [...pods.values()].filter(({ spec }) => spec?.nodeName === node);
}

export function isMarked({ nodes }: History, node: string): boolean {
  return nodes.get(node)?.metadata.annotations?.[MARKS_ANNOTATION] !== undefined;
}

export function isCordoned({ nodes }: History, node: string): boolean {
  return nodes.get(node)?.spec?.unschedulable ?? false;
}

export function versionOf(node: Node | undefined): string | undefined {
  return versionOfOsImage(node?.status?.nodeInfo?.osImage);
}

/** Names of the nodes that run a version, are Idle and bear neither marks nor a cordon. */
export function atRest(history: History, version: string): readonly string[] {
  const names = [...history.nodes.keys()].filter((name) => {
    const shadow = shadowOf(history, name);
    const isIdle = shadow?.spec.state === 'Idle' && shadow.status?.current_state === 'Idle';
    return (
      isIdle && versionOf(history.nodes.get(name)) === version && !isMarked(history, name) && !isCordoned(history, name)
    );
  });
  return names.toSorted();
}
