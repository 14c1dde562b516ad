import type { Pod } from '../../kube/objects.ts';
import { joinParts } from '../../lib/parts.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import type { Preflight } from '../config.ts';
import type { NodeEvent } from '../node-events.ts';
import { graceSeconds } from './preflight.ts';
import { nameOf } from './words.ts';

export function drainStarted(pods: number): NodeEvent {
  return { type: 'Normal', reason: 'DrainStarted', message: `Draining for a Bottlerocket update, ${pods} pods to go` };
}

/** What stands in the way of a drain before it begins, in the words of its progress. */
export function drainBlocked(preflight: Preflight, { blocked_by }: Pick<DrainProgress, 'blocked_by'>): NodeEvent {
  const [reason, what] =
    preflight === 'refuse' ? ['DrainRefused', 'Not drained'] : ['DrainBlocked', 'The drain will not end by itself'];
  return {
    type: 'Warning',
    reason,
    message: `${what}; no eviction can be granted as things are: ${joinParts(blocked_by)}`,
  };
}

/** @param timeoutMs of the drain; @param pods that may take longer to end */
export function drainMayTimeOut(timeoutMs: number, pods: readonly Pod[]): NodeEvent {
  const named = joinParts(pods.map((pod) => `${nameOf(pod)} (${graceSeconds(pod)} s)`));
  const message = `The drain fails after ${timeoutMs / 1000} s, and these pods may take longer to end: ${named}`;
  return { type: 'Warning', reason: 'DrainMayTimeOut', message };
}

export interface Finished {
  /** When the drain began (RFC 3339). */
  readonly since: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Pods that came after the cordon, which they tolerate. */
  readonly tolerating: readonly Pod[];
}

export function drainFinished({ since, now, tolerating }: Finished): NodeEvent {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  const came =
    tolerating.length > 0 ? `; pods that tolerate the cordon came since: ${joinParts(tolerating.map(nameOf))}` : '';
  return {
    type: 'Normal',
    reason: 'DrainFinished',
    message: `Drained for a Bottlerocket update in ${seconds} s${came}`,
  };
}

/** @param volumes by their unique names */
export function volumesAwaited(volumes: readonly string[]): NodeEvent {
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
