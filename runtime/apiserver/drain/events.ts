import { joinParts } from '../../lib/parts.ts';
import type { DrainProgress } from '../../api/shadow/model.ts';
import type { Preflight } from '../../drain/drain.ts';
import type { NodeEvent } from '../ports.ts';
import type { PodDeleteList } from '../../drain/filter.ts';
import { type DrainPod, podName } from '../../drain/pod.ts';
import type { LastBackend } from '../../drain/webhooks.ts';

export function drainStarted(pods: number): NodeEvent {
  return { type: 'Normal', reason: 'DrainStarted', message: `Draining for a Bottlerocket update, ${pods} pods to go` };
}

/** @param pods whose work is let finish @param until at the latest (RFC 3339) */
export function drainWaits(pods: readonly DrainPod[], until: string): NodeEvent {
  const message = `Cordoned for a Bottlerocket update, and drained once these pods have finished, or at ${until}: ${joinParts(pods.map(podName))}`;
  return { type: 'Normal', reason: 'DrainWaits', message };
}

/** Why pods cannot be evicted, told before the drain begins, in the words of its progress. */
export function drainBlocked(preflight: Preflight, { blocked_by }: Pick<DrainProgress, 'blocked_by'>): NodeEvent {
  const [reason, what] =
    preflight === 'refuse' ? ['DrainRefused', 'Not drained'] : ['DrainBlocked', 'The drain may not end'];
  const message = `${what}; no eviction can be granted as things are: ${joinParts(blocked_by)}`;
  return { type: 'Warning', reason, message };
}

/** @param timeoutMs of the drain; @param pods that may take longer to end */
export function drainMayTimeOut(timeoutMs: number, pods: readonly DrainPod[]): NodeEvent {
  const named = joinParts(pods.map((pod) => `${podName(pod)} (${pod.graceSeconds} s)`));
  const message = `The drain fails after ${timeoutMs / 1000} s, and these pods may take longer to end: ${named}`;
  return { type: 'Warning', reason: 'DrainMayTimeOut', message };
}

/** @param lack what is needed and not free */
export function noRoom(lack: string, then: 'begins' | 'waits' = 'begins'): NodeEvent {
  const [what, ahead] =
    then === 'waits' ? ['Not drained', ''] : ['Some pods may find no place', ' when the drain began'];
  return { type: 'Warning', reason: 'NoRoom', message: `${what}; on the nodes that match${ahead}: ${lack}` };
}

/** @param services whose only ready pods are on the node */
export function drainStopsWebhooks(services: readonly LastBackend[]): NodeEvent {
  const named = joinParts(services.map(({ service, webhooks }) => `${service} (${joinParts(webhooks)})`));
  const message = `The only ready pods of these Services are on the node, and until others are, the API server refuses what their webhooks decide on (failurePolicy Fail): ${named}`;
  return { type: 'Warning', reason: 'WebhookOnNode', message };
}

/** @param pods that should have ended long ago */
export function podsStuck(pods: readonly DrainPod[]): NodeEvent {
  const named = joinParts(pods.map((pod) => `${podName(pod)} (due at ${pod.due})`));
  const message = `Pods do not end, though the node is Ready; a drain does not wait for them, and the reboot may cure them: ${named}`;
  return { type: 'Warning', reason: 'PodsStuckTerminating', message };
}

/** @param seconds that the drain took */
export function drainFinished(seconds: number, { tolerating, returned }: PodDeleteList): NodeEvent {
  const message = [
    `Drained for a Bottlerocket update in ${Math.round(seconds)} s`,
    ...naming('pods that tolerate the cordon came since', tolerating),
    ...naming('pods that are put here past the scheduler came back as often as they were evicted', returned),
  ];
  return { type: 'Normal', reason: 'DrainFinished', message: message.join('; ') };
}

function naming(what: string, pods: readonly DrainPod[]): readonly string[] {
  return pods.length > 0 ? [`${what}: ${joinParts(pods.map(podName))}`] : [];
}

/** @param volumes by their unique names */
export function waitingForVolumes(volumes: readonly string[]): NodeEvent {
  const message = `Waiting until volumes of drained pods are unmounted: ${joinParts(volumes)}`;
  return { type: 'Normal', reason: 'WaitingForVolumes', message };
}

/** @param volumes by their unique names */
export function volumesInUse(volumes: readonly string[]): NodeEvent {
  const message = `Volumes of drained pods are not unmounted in time, and their pods may have to wait for them: ${joinParts(volumes)}`;
  return { type: 'Warning', reason: 'VolumesInUse', message };
}

export function drainFailed(message: string): NodeEvent {
  return { type: 'Warning', reason: 'DrainFailed', message };
}
