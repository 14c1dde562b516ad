import { instantOf } from '../../../lib/clock.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import type { Asking, World } from './asking.ts';
import type { Group } from '../groups/groups.ts';
import { wayBack } from '../groups/way-back.ts';
import { isRetried } from '../nodes/blame.ts';
import { unmet } from '../nodes/unmet.ts';
import { type GateResult, PASS, stoppedBy } from '../facts/requeue.ts';
import type { ShadowView } from '../facts/snapshot.ts';
import { atTime, type Finding, found, type Stop } from '../facts/verdict.ts';

/** The gates of which version a node takes, and since when that must have been offered. */

export function asOrdered({ shadow: { order } }: Asking): Stop['kind'] {
  return order?.stop?.kind ?? 'call-off';
}

/**
 * A host that offers versions by itself ends the update when its offer changes. A host that is ordered its version does not notice, so its
 * update is called off here.
 */
export function orderedOtherwise({ shadow: { order }, version }: Asking): GateResult {
  if (!order) return PASS;
  if (order.stop) return stoppedBy(order.stop.because);
  if (version === undefined || order.version === version) return PASS;
  return stoppedBy(found('NoUpdateOffered', `${order.version} is wanted by now`));
}

export function pinned({ info, shadow, group, version }: Asking): GateResult {
  if (!group || version === undefined) return PASS;
  const other = otherLock(shadow, version) ?? otherVersion(group.rules, version);
  return other ? stoppedBy(unmet(info) ?? other) : PASS;
}

/** What the shadow says that the host offers may be of before its lock: prepared now, it would be what it is locked to. */
function otherLock({ status }: ShadowView, version: string): Finding | undefined {
  const wish = status?.version_wish;
  const lock = wish?.ours.version_lock;
  if (wish?.refused != null || lock == null || compareSemver(lock, version) === 0) return undefined;
  return found('NotOffered', `${version} waits: its host is still locked to ${lock}`);
}

function otherVersion({ name, version: { exact, max } }: Group['rules'], version: string): Finding | undefined {
  const who = name === undefined ? 'MAX_VERSION' : `policy ${name}`;
  if (exact !== undefined && compareSemver(version, exact) !== 0)
    return found('VersionPinned', `${version} waits: ${who} takes ${exact} alone`);
  if (max !== undefined && compareSemver(version, max) > 0)
    return found('VersionPinned', `${version} waits: ${who} takes nothing above ${max}`);
  return undefined;
}

/** It leaves a bad release for what it ran before, which need not wait until the node is well. */
export const isBack = ({ info, shadow, group, version }: Asking): boolean =>
  version !== undefined && version === shadow.updatedFrom && wayBack(info, group) === version;

/** It would go back from the release again, and nobody has named the node for it (rule P9). */
export function wouldLeave({ info: { node }, release, shadow: { status } }: Asking): boolean {
  if (!release || !status || node.askedBy !== undefined || isRetried(node, status)) return false;
  return release.isLeft && isAbove(release.version, status.current_version);
}

/** A way back is not asked for its age: an older version may have come to this cluster's hosts long before anybody counted. */
export function tooYoung({ group, release, shadow }: Asking, { ledgers, now }: World): GateResult {
  const { minAgeMs } = group?.rules.version ?? { minAgeMs: 0 };
  if (minAgeMs === 0 || !release || !isAbove(release.version, shadow.status?.current_version)) return PASS;
  const since = instantOf(ledgers.of(release)?.ledger.firstOfferedAt) ?? now;
  const until = since + minAgeMs;
  if (until <= now) return PASS;
  const message = `${release.version} is offered since ${atTime(since)}, and starts from ${atTime(until)} on`;
  return stoppedBy(found('TooYoung', message, until));
}

/** Nor does one that goes down wait for a person: who wants it has said so. */
export function unapproved(asking: Asking, { ledgers }: World): GateResult {
  const { group, release } = asking;
  const { name, needsApproval } = group?.rules ?? {};
  if (name === undefined || !needsApproval || !release) return PASS;
  if (isDownwards(asking) || ledgers.isApproved(release, name)) return PASS;
  return stoppedBy(found('AwaitingApproval', `policy ${name} wants ${release.version} to be approved`));
}

/** It would go to a version below the one that it runs. */
export const isDownwards = ({ version, shadow }: Asking): boolean =>
  version !== undefined && !isAbove(version, shadow.status?.current_version);

const isAbove = (version: string, current: string | undefined): boolean =>
  current === undefined || compareSemver(version, current) > 0;
