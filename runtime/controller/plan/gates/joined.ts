import { type GateResult, PASS, stoppedBy } from '../facts/requeue.ts';
import type { Asking, World } from './asking.ts';

/** What gates ask of machines that have just joined. */

type Ask = (asking: Asking, world: World) => GateResult;

const unlessArriving =
  (ask: Ask): Ask =>
  (asking, world) =>
    asking.isArriving ? PASS : ask(asking, world);

interface ForPods {
  readonly ask: Ask;
  readonly askAgain?: Ask;
  readonly forPods: true;
}

/** It is for the pods that an update moves, and a machine that has just joined has none. */
export const forPods = (ask: Ask, askAgain?: Ask): ForPods => ({
  ask: unlessArriving(ask),
  ...(askAgain && { askAgain: unlessArriving(askAgain) }),
  forPods: true,
});

/** It has begun as such, and pods may have come since: it goes on as any other. */
export const hasJoined = ({ info: { permit }, isArriving }: Asking): boolean =>
  permit?.arriving === true && !isArriving;

/** A machine that has just joined proves nothing. */
export function onlyProven(ask: Ask): Ask {
  return (asking, world) => {
    const { info, release, isArriving } = asking;
    if (!isArriving || !release || release.proof.isProvenFor(info.node)) return ask(asking, world);
    return stoppedBy(release.unprovenTo(info.node));
  };
}
