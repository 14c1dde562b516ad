import { pauseText } from '../../../api/shadow/asked.ts';
import { isToldToDrain } from '../facts/phase.ts';
import { type GateResult, PASS, stoppedBy } from '../facts/requeue.ts';
import { found } from '../facts/verdict.ts';
import type { Again, Asking, World } from './asking.ts';

/** The gates that are open or closed for the whole fleet. */

export function notCurrent(_: Asking, { snapshot: { notCurrent: lost } }: World): GateResult {
  return lost === undefined ? PASS : stoppedBy(found('NotCurrent', lost));
}

/** Nobody knows for how long: a node that is told to drain would be drained under the pause. */
export function whilePaused({ info: { phase } }: Asking): Again {
  return isToldToDrain(phase) ? 'call-off' : 'wait';
}

export function nowPaused(_: Asking, { snapshot }: World): GateResult {
  return snapshot.paused ? stoppedBy(found('Paused', pauseText(snapshot.pausedBy))) : PASS;
}

export function unreadable(_: Asking, { rulings }: World): GateResult {
  return rulings.unknown ? stoppedBy(rulings.unknown) : PASS;
}

export function besideOthers(_: Asking, { snapshot: { otherOperators: others } }: World): GateResult {
  return others === undefined ? PASS : stoppedBy(found('OtherOperator', others));
}

export function withoutControlPlane(_: Asking, { snapshot: { controlPlaneAway: away } }: World): GateResult {
  return away === undefined ? PASS : stoppedBy(found('ControlPlaneAway', away));
}

/** Something else is wrong: an update would take away what is left. */
export function unhealthy(_: Asking, { unhealthy: because }: World): GateResult {
  return because ? stoppedBy(because) : PASS;
}
