import { HOUR_MS, instantOf } from '../lib/clock.ts';
import type { Status } from '../api/shadow/model.ts';
import { UNSTABLE_FROM } from '../api/shadow/failed-versions.ts';
import { compareSemver } from '../api/shadow/semver.ts';
import type { View } from './decide.ts';

/** Boots of a node at rest: whoever asked for them, it was not the operator. Pure functions. */

type Finished = NonNullable<Status['finished']>;

/** What such a boot comes to. */
export interface UnaskedBoot {
  /** What is to be remembered; null where nothing of it holds any more. */
  readonly finished: Finished | null;
  /** Undefined where it is nobody's fault. */
  readonly reason: 'Reverted' | 'Unstable' | undefined;
}

export interface Terms {
  /** A person keeps the node as it is: whoever goes back on purpose says so first. */
  readonly isHeld: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Undefined where there was none since the agent has last looked. */
export function unaskedBoot(view: View, terms: Terms): UnaskedBoot | undefined {
  const finished = view.shadow?.status?.finished;
  if (!finished || !hasBooted(finished, view)) return undefined;
  if (isReverted(finished, view.version)) return { finished: null, reason: terms.isHeld ? undefined : 'Reverted' };
  return bootOf(finished, view, terms);
}

function bootOf(finished: Finished, { version, bootId }: View, { isHeld, now }: Terms): UnaskedBoot {
  const isCounted = !isHeld && finished.version === version && isSoon(finished, now);
  const unasked_boots = finished.unasked_boots + (isCounted ? 1 : 0);
  const reason = isCounted && unasked_boots === UNSTABLE_FROM ? 'Unstable' : undefined;
  return { finished: { ...finished, boot_id: bootId, unasked_boots }, reason };
}

function hasBooted(finished: Finished, { version, bootId }: View): boolean {
  return finished.boot_id !== bootId || isReverted(finished, version);
}

const isReverted = (finished: Finished, running: string): boolean => compareSemver(running, finished.version) < 0;

/** The clock of a machine that has just booted may be wrong in either direction. */
function isSoon({ at }: Finished, now: number): boolean {
  return Math.abs(now - (instantOf(at) ?? -Infinity)) <= HOUR_MS;
}
