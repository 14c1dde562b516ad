import { MINUTE_MS } from '../../../lib/clock.ts';
import { NEVER } from '../facts/requeue.ts';
import type { ShadowView } from '../facts/snapshot.ts';

/** What is known of pods that no eviction could move, before their node is drained. Of most nodes nothing is. */

/** For so long a look that has found such pods is believed: nobody tells when their budget is mended. */
const BELIEVED_MS = 10 * MINUTE_MS;

type Looked = Pick<ShadowView, 'status' | 'lookedAt'>;

/** The look at its pods has found some. */
export const isFoundBlocked = ({ status }: Looked): boolean => (status?.preflight?.blocked_by ?? []).length > 0;

/** And that is not too long ago. */
export const isKnownBlocked = (shadow: Looked, now: number): boolean =>
  isFoundBlocked(shadow) && blockedUntil(shadow) > now;

/** The look has found none. The next one comes before it is drained, so that this is believed until then. */
export const isFoundFree = ({ status }: Looked): boolean => status?.preflight?.blocked_by.length === 0;

/** Until when others come before it for that; -Infinity where nothing is known to block it. Where nobody has looked, its last drain is what is known. */
export function blockedUntil(shadow: Looked): number {
  const { preflight, drain } = shadow.status ?? {};
  if (preflight) return isFoundBlocked(shadow) ? (shadow.lookedAt ?? -Infinity) + BELIEVED_MS : -Infinity;
  return (drain?.blocked_by ?? []).length > 0 ? NEVER : -Infinity;
}
