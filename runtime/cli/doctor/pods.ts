import { isReady, type Pod } from '../../kube/objects.ts';
import { namesText } from './finding.ts';

/** Pods that are not ready, each with why, as far as the cluster says it. */
export const podsText = (pods: readonly Pod[]): string => namesText(pods.map(podText));

function podText(pod: Pod): string {
  const node = pod.spec?.nodeName;
  return `${pod.metadata.name} (${whyNotReady(pod)}${node ? ` on ${node}` : ''})`;
}

export const lateOf = (pods: readonly Pod[]): readonly Pod[] => pods.filter((pod) => !isReady(pod));

/** In a word or two. */
export function whyNotReady({ status, metadata }: Pod): string {
  if (metadata.deletionTimestamp) return 'is ending';
  const phase = status?.phase ?? 'unknown';
  return ofContainers(status) ?? ofScheduler(status) ?? (phase === 'Running' ? 'not ready' : phase);
}

function ofContainers(status: Pod['status']): string | undefined {
  const states = (status?.containerStatuses ?? []).flatMap(({ state }) => [state?.waiting, state?.terminated]);
  return states.map((state) => state?.reason).find(Boolean) ?? undefined;
}

function ofScheduler(status: Pod['status']): string | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? (scheduled.reason ?? undefined) : undefined;
}

/** What shows more of the first of them. */
export const lookAt = ([first]: readonly Pod[]): string =>
  first ? `\`kubectl describe pod ${first.metadata.name}\` and \`kubectl logs ${first.metadata.name}\` say more.` : '';
