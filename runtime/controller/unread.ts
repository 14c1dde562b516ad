import type { Informer } from '../kube/informer.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import { answerOf } from './write-refusals.ts';

/**
 * A watch may fail for this long before what it brought no longer counts. The upgrade of a control plane takes less, and a freeze that was
 * added meanwhile must not be overlooked for longer.
 */
const BELIEVED_MS = 600_000;

const notYet = (what: string): string => `the ${what} have not been read yet`;
const listOf = (what: string): string => `the list of ${what} `;

/** Why objects do not count; undefined where they do. @param what they are, in the plural */
export function unread(
  what: string,
  { isSynced, outage }: Pick<Informer<KubeObject, unknown>, 'isSynced' | 'outage'>,
  clock: Clock,
): string | undefined {
  if (!outage) return isSynced ? undefined : notYet(what);
  const isBelieved = isSynced && clock.monotonic() - outage.since < BELIEVED_MS;
  return isBelieved ? undefined : `${listOf(what)}${answerOf(outage.error)}`;
}

/** Whether a message comes from `unread`. */
export const saysUnread = (what: string, message: string): boolean =>
  message === notYet(what) || message.startsWith(listOf(what));
