import type { Status } from '../../../api/shadow/model.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import { isDone } from '../facts/reasons.ts';
import { type Finding, found } from '../facts/verdict.ts';
import type { AssessedNode } from './health.ts';

/** Why the host does not offer the version that its policy wants; undefined where it does, runs it, or none is wanted. */
export function unmet(info: AssessedNode): Finding | undefined {
  const { status } = info.shadow ?? {};
  const wanted = wantedOn(info);
  if (!status || wanted === undefined || isThere(wanted, status)) return undefined;
  const { refused, detail } = answerTo(wanted, status) ?? {};
  if (refused == null)
    return isOffered(status) ? undefined : found('NotOffered', `${wanted} is wanted, and ${UNASKED}`);
  const reason = refused === 'LockedElsewhere' ? refused : 'NotOffered';
  return found(reason, `${wanted} is wanted, and its host does not offer it: ${detail ?? refused}`);
}

/** A node that is offered nothing is not up to date where its policy wants another version. */
export const withWish = (info: AssessedNode, own: Finding | undefined): Finding | undefined =>
  own && isDone(own.reason) ? (unmet(info) ?? own) : own;

const UNASKED = 'the agent of the node has not asked its host for it yet';

/** With a highest version, the one that was asked for. A host that is ordered what to run offers what it is told. */
function wantedOn({ shadow, ruling }: AssessedNode): string | undefined {
  const { rollsBack, version } = ruling.rules;
  const { exact, max } = version;
  if (shadow?.order) return undefined;
  return (
    exact ?? (max === undefined && !rollsBack ? undefined : (shadow?.spec.version_wish?.version_lock ?? undefined))
  );
}

const isThere = (wanted: string, { current_version: current, target_version: target }: Status): boolean =>
  [current, target].some((version) => compareSemver(version, wanted) === 0);

const isOffered = ({ current_version: current, target_version: target }: Status): boolean => current !== target;

/** Not what the agent has said of an earlier wish. */
function answerTo(wanted: string, { version_wish: state }: Status): Status['version_wish'] {
  const lock = state?.ours.version_lock;
  return lock == null || lock === wanted ? state : undefined;
}
