import type { Status } from '../../../api/shadow/model.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import { type Finding, found } from '../facts/verdict.ts';
import type { AssessedNode } from './health.ts';

/** Where a node goes that is to leave what it runs, or why it stays. */
export type WayBack =
  | { readonly to: string; readonly stays?: undefined; readonly isRefused?: undefined }
  | { readonly to?: undefined; readonly stays: string; readonly isRefused?: true };

/** Why the host does not offer the version that is wanted of it; undefined where it does, runs it, or none is wanted. */
export function unmet(info: AssessedNode, way?: WayBack): Finding | undefined {
  const { status } = info.shadow ?? {};
  if (way?.stays !== undefined)
    return found('NotOffered', `${status?.current_version} is to be left, but ${way.stays}`);
  const wanted = wantedOn(info, way?.to);
  return !status || wanted === undefined || isThere(wanted, status) ? undefined : notOffered(wanted, status);
}

function notOffered(wanted: string, status: Status): Finding | undefined {
  const { refused, detail } = answerTo(wanted, status) ?? {};
  if (refused == null)
    return isOffered(status) ? undefined : found('NotOffered', `${wanted} is wanted, and ${UNASKED}`);
  const reason = refused === 'LockedElsewhere' ? refused : 'NotOffered';
  return found(reason, `${wanted} is wanted, and its host does not offer it: ${detail ?? refused}`);
}

const UNASKED = 'the agent of the node has not asked its host for it yet';

/** With a highest version, the one that was asked for. A host that is ordered what to run offers what it is told. */
function wantedOn({ shadow, ruling }: AssessedNode, back: string | undefined): string | undefined {
  const { exact, max } = ruling.rules.version;
  if (shadow?.order) return undefined;
  return exact ?? back ?? (max === undefined ? undefined : (shadow?.spec.version_wish?.version_lock ?? undefined));
}

const isThere = (wanted: string, { current_version: current, target_version: target }: Status): boolean =>
  [current, target].some((version) => compareSemver(version, wanted) === 0);

const isOffered = ({ current_version: current, target_version: target }: Status): boolean => current !== target;

/** Not what the agent has said of an earlier wish. */
export function answerTo(wanted: string, { version_wish: state }: Status): Status['version_wish'] {
  const lock = state?.ours.version_lock;
  return lock == null || lock === wanted ? state : undefined;
}
