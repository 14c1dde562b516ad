import type { Pod } from '../../runtime/kube/objects.ts';
import { COMPONENT_LABEL, COMPONENTS, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { Scene } from './scene.ts';

/** Pods of the operator that are there now, by the API server's watch. @param component all of them by default */
export function operatorPods({ history }: Pick<Scene, 'history'>, component?: string): readonly Pod[] {
  return [...history.pods.values()].filter(({ metadata: { namespace, labels } }) => {
    const own = labels?.[COMPONENT_LABEL];
    return namespace === NAMESPACE && own !== undefined && (component === undefined || own === component);
  });
}

/** Resolves when every part of the operator is there and Ready. */
export async function operatorRuns(scene: Pick<Scene, 'options' | 'until'>): Promise<void> {
  const { options } = scene;
  await scene.until((history) => {
    const ready = (component: string): number => operatorPods({ history }, component).filter(isReady).length;
    return (
      ready(COMPONENTS.agent) === options.nodes &&
      ready(COMPONENTS.apiserver) === 3 &&
      ready(COMPONENTS.controller) === 1
    );
  });
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
