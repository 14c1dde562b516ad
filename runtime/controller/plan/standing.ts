import type { PolicyNodes } from '../../policy/model.ts';
import { isActive, type ShadowView } from './snapshot.ts';

/** How a node stands, in a word. */
export type Standing = Exclude<keyof PolicyNodes, 'selected'>;

/**
 * Undefined where its agent has not reported yet. A node that waits has failed where its last update did, or one to the version that it is
 * offered. @param isFailing it did not return from its update, or fails its soak
 */
export function standingOf(shadow: ShadowView | undefined, isFailing: boolean): Standing | undefined {
  const { status } = shadow ?? {};
  if (!shadow || !status) return undefined;
  if (isFailing) return 'failed';
  if (isActive(shadow)) return 'updating';
  const { current_version: current, target_version: target, crash_count: crashes, failed_versions: failed } = status;
  if (current === target) return 'upToDate';
  return crashes > 0 || failed?.includes(target) === true ? 'failed' : 'waiting';
}
