import type { Status } from '../../../api/shadow/model.ts';
import { LATEST } from '../../../api/policy/version.ts';
import { lockedTo } from '../../../api/shadow/update-settings.ts';
import type { Groups } from '../groups/groups.ts';
import { wayFrom } from '../groups/way-back.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { answerTo, type WayBack } from '../nodes/unmet.ts';

/** A managed node that is to leave what it runs. */
export interface GoingBack {
  readonly node: string;
  readonly family: string;
  readonly runs: string;
  /** Where it goes; undefined where it stays. */
  readonly to?: string | undefined;
  /** Why. */
  readonly stays?: string | undefined;
  /** Why its host may not take the way, as far as its shadow tells. Whether migrations lead there, it tells once it was tried. */
  readonly doubt?: string | undefined;
}

export function goingBackIn(managed: readonly AssessedNode[], groups: Groups): readonly GoingBack[] {
  return managed.flatMap((info) => {
    const way = wayFrom(info, groups.of(info));
    return way && info.shadow?.status ? goingBackOf(info, way, info.shadow.status) : [];
  });
}

function goingBackOf({ node }: AssessedNode, way: WayBack, status: Status): GoingBack {
  const { name, family } = node;
  const one = { node: name, family, runs: status.current_version };
  if (way.to === undefined) return { ...one, stays: way.stays };
  const doubt = doubtOf(way.to, status);
  return { ...one, to: way.to, ...(doubt !== undefined && { doubt }) };
}

function doubtOf(wanted: string, status: Status): string | undefined {
  const { update_settings: told, version_wish: state } = status;
  const { refused, detail } = answerTo(wanted, status) ?? {};
  if (refused != null) return detail ?? refused;
  if (!told && !state) return 'its host tells no settings that it could be locked by, or its agent is an older one';
  const lock = lockOf(told);
  return [LATEST, wanted, lockOf(state?.ours)].includes(lock)
    ? undefined
    : `somebody else has locked its host to ${lock}`;
}

const lockOf = (settings: { readonly version_lock?: string | null | undefined } | null | undefined): string =>
  lockedTo(settings?.version_lock ?? LATEST);
