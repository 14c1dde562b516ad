import type { Asking, World } from './asking.ts';
import { beginningOf, claimOf } from '../groups/busy.ts';
import type { Risk } from '../releases/books.ts';
import { type Claim, freedAt, isHeldByTime, longestHolder, shortFor, zoneText } from '../facts/places.ts';
import { type GateResult, PASS, stoppedBy } from '../facts/requeue.ts';
import { type Finding, found, NOT_READY_FIRST, WAITING } from '../facts/verdict.ts';
import { isBack } from './versions.ts';

/** The gates that other nodes open and close. */

export function awaiting(asking: Asking, { dependencies, ledgers }: World): GateResult {
  const { group, release } = asking;
  if (!group || !release || isBack(asking)) return PASS;
  const here = dependencies.of(group, release);
  if (here.finding) return here;
  const place = group.rules.afterExternal.find((one) => !ledgers.isProvenIn(release, one));
  if (place === undefined) return here;
  return stoppedBy(found('WaitingForPolicy', `nobody has said yet that ${release.version} is proven in ${place}`));
}

/**
 * A node with an entry of its own may always try again: its recovery shows that the release is sound. One that goes back has run it. A machine that has
 * just joined takes what is proven alone, and no place of others.
 */
export function proofClaims(asking: Asking, as: Risk): readonly Claim[] {
  const { info, release, isRetry, isArriving } = asking;
  return !release || isRetry || isArriving || isBack(asking) ? [] : release.proof.claims(as, info.node);
}

/** A node waits for room on its release: before that is proven to it, or for as long as it widens after that. */
function untilRoom(as: Risk, isProven: boolean): (asking: Asking, world: World) => GateResult {
  return (asking, { given }) => {
    const { info, release } = asking;
    if (!release || release.proof.isProvenFor(info.node) !== isProven) return PASS;
    const unmet = proofClaims(asking, as).filter((claim) => shortFor(claim, given) > 0);
    if (unmet.length === 0) return PASS;
    const roomAt = Math.max(...unmet.map((claim) => freedAt(claim, given)));
    // When time proves it, all releases say together.
    return isProven
      ? { finding: release.widening, changesAt: Math.min(release.proof.widensAt, roomAt) }
      : { finding: release.unprovenTo(info.node), changesAt: roomAt };
  };
}

export const unproven = untilRoom('moving', false);
/** Proof is counted again: since the start, lost nodes may have come back, and nodes that proved the release may be gone. */
export const unprovenBefore = untilRoom('disturbed', false);
export const widening = untilRoom('moving', true);
/** Nodes that ran it well at the start may be gone. */
export const wideningBefore = untilRoom('disturbed', true);

/** Names the zone that stays busy for longest, so that the message stays true until this zone may begin. */
export function otherZones({ info, group, version }: Asking, { places, given }: World): GateResult {
  if (!group || group.rules.zones.atOnce === Infinity) return PASS;
  const claim = claimOf('zone', { info, group, version }, places);
  if (shortFor(claim, given) <= 0) return PASS;
  const where = zoneText(longestHolder(claim, given), group.rules);
  const finding = found('ZoneBusy', `nodes ${where} are being updated, or are not Ready`);
  return { finding, changesAt: freedAt(claim, given) };
}

const BEGINNING = found(
  'WaitingForSlot',
  'the drain of another node begins first, so that the room for its pods counts',
);

/** A drain that waits for room comes after those that are about to begin. A machine that has just joined moves nobody. */
export function anotherBegins({ info, group, isArriving }: Asking, { places, given }: World): GateResult {
  if (group?.rules.waitsForRoom !== true || isArriving) return PASS;
  const claim = beginningOf(info, places);
  if (shortFor(claim, given) <= 0) return PASS;
  return { finding: BEGINNING, changesAt: freedAt(claim, given) };
}

const WAITING_IN_POLICY = found('WaitingForSlot', 'other nodes of the policy are being updated');
const CAPPED = found('WaitingForSlot', 'nodes of all policies together are being updated up to MAX_CONCURRENT_UPDATE');
const LIST_FULL = found('WaitingForSlot', 'the list of the nodes that are being updated is full');

type Full = 'budget' | 'all' | 'room';

/** What a full place says, in the order of the gates. Under the variables, which know no other policies, both budgets are one. */
const FULL: readonly (readonly [which: Full, says: Finding, underVariables: Finding])[] = [
  ['budget', WAITING_IN_POLICY, WAITING],
  ['all', CAPPED, WAITING],
  ['room', LIST_FULL, LIST_FULL],
];

export const policyFull = (asking: Asking, world: World): GateResult => full(0, asking, world);
export const fleetFull = (asking: Asking, world: World): GateResult => full(1, asking, world);
export const listFull = (asking: Asking, world: World): GateResult => full(2, asking, world);

/** A place that is freed changes nothing where the next one says the same. */
function full(at: number, asking: Asking, world: World): GateResult {
  const result = fullOf(at, asking, world);
  if (!result.finding || at + 1 === FULL.length) return result;
  const next = full(at + 1, asking, world);
  if (next.finding !== result.finding) return result;
  return { finding: result.finding, changesAt: Math.max(result.changesAt, next.changesAt) };
}

function fullOf(at: number, { info, group, version }: Asking, { places, given }: World): GateResult {
  const row = FULL[at];
  if (!group || !row) return PASS;
  const [which, says, underVariables] = row;
  const claim = claimOf(which, { info, group, version }, places);
  if (shortFor(claim, given) <= 0) return PASS;
  const taken = group.rules.name === undefined ? underVariables : says;
  return { finding: isHeldByTime(claim.place, given) ? NOT_READY_FIRST : taken, changesAt: freedAt(claim, given) };
}
