import type { Status, WishRefusal } from '../../../api/shadow/model.ts';
import { UPDATED_FROM_ANNOTATION, VERSION_BEFORE_ANNOTATION } from '../../../api/shadow/names.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { answerTo, unmet, type WayBack } from '../nodes/unmet.ts';
import type { SetWish } from '../facts/commands.ts';
import { isDone } from '../facts/reasons.ts';
import type { Finding } from '../facts/verdict.ts';
import type { Group, Groups } from './groups.ts';

type ItsGroup = Pick<Group, 'releases'> | undefined;

/** Where a node goes that is to leave what it runs, or why it stays; undefined where it is not to leave it. */
export function wayFrom(info: AssessedNode, group: ItsGroup): WayBack | undefined {
  const { node, shadow, ruling } = info;
  const { status } = shadow ?? {};
  if (!status || !group?.releases.isOneLeft) return undefined;
  const { rules } = ruling;
  const { current_version: current } = status;
  if (!group.releases.of(node.family, current).isLeft) return undefined;
  const { exact } = rules.version;
  if (exact === undefined) return wayOut(info, group.releases);
  // It goes to what its policy names, or stays there.
  return compareSemver(exact, current) === 0 ? { stays: `policy ${rules.name} takes ${exact} alone` } : undefined;
}

function wayOut({ node, shadow }: AssessedNode, releases: Group['releases']): WayBack | undefined {
  const { status, updatedFrom: before, order } = shadow ?? {};
  if (order) return { stays: 'its channel says what it runs' };
  if (!status || before === undefined) return { stays: 'nobody knows a version that it could go back to' };
  if (releases.of(node.family, before).isHalted) return { stays: `${before} is halted as well` };
  return wayTo(before, status);
}

function wayTo(before: string, status: Status): WayBack {
  if (compareSemver(before, status.current_version) >= 0) return { stays: `it has come to it from ${before}` };
  const { refused, detail } = answerTo(before, status) ?? {};
  if (refused == null || !FOR_GOOD.has(refused)) return { to: before };
  return { stays: `its host cannot go to ${before}: ${detail ?? refused}`, isRefused: true };
}

/** A host that stays locked to what it cannot have is offered no newer release either. */
const FOR_GOOD: ReadonlySet<string> = new Set<WishRefusal>(['NoMigrations', 'NotOffered']);

/** What the write says that gives up a way back which its host refuses: that nobody knows what the node ran before. */
export function givingUp({ shadow }: AssessedNode, way: WayBack | undefined): SetWish['annotations'] {
  const current = shadow?.status?.current_version;
  if (!way?.isRefused || current === undefined) return undefined;
  return { [UPDATED_FROM_ANNOTATION]: current, [VERSION_BEFORE_ANNOTATION]: null };
}

/** The version that a node is to go back to; undefined where it stays. */
export const wayBack = (info: AssessedNode, group: ItsGroup): string | undefined => wayFrom(info, group)?.to;

/** A node that is offered nothing is not up to date where another version is wanted of it. */
export const withWish = (
  info: AssessedNode,
  own: Finding | undefined,
  { groups }: { readonly groups: Pick<Groups, 'of'> },
): Finding | undefined => (own && isDone(own.reason) ? (unmet(info, wayFrom(info, groups.of(info))) ?? own) : own);
