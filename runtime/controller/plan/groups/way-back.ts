import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import { compareSemver } from '../../../api/shadow/semver.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { OsRelease } from '../releases/releases.ts';
import type { Group } from './groups.ts';

/** The version that a node is to go back to, because what it runs was halted for its failures; undefined where it stays, as where nobody knows any. */
export function wayBack(
  { node, shadow, ruling }: AssessedNode,
  group: Pick<Group, 'releases'> | undefined,
): string | undefined {
  const { status, updatedFrom: before } = shadow ?? {};
  if (!leaves(ruling.rules) || !status || before === undefined || !group) return undefined;
  const { current_version: current } = status;
  const isBad = hasFailed(group.releases.of(node.family, current));
  return isBad && compareSemver(before, current) < 0 ? before : undefined;
}

/** A policy that names a version has decided already. */
const leaves = ({ rollsBack, version }: UpdatePolicy): boolean => rollsBack && version.exact === undefined;

/** What people have halted is theirs to leave. */
const hasFailed = ({ isHalted, proof }: OsRelease): boolean => isHalted && !proof.isHaltedByPeople;
