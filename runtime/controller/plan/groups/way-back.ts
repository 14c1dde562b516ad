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
  if (!ruling.rules.rollsBack || !status || before === undefined || !group) return undefined;
  const { current_version: current } = status;
  const isBad = isLeft(group.releases.of(node.family, current), ruling.rules);
  return isBad && compareSemver(before, current) < 0 ? before : undefined;
}

/** Whether nodes go back from it. A policy that names a version has decided already, and what people have halted is theirs to leave. */
export const isLeft = ({ proof }: OsRelease, { rollsBack, version }: UpdatePolicy): boolean =>
  rollsBack && version.exact === undefined && proof.isBad;
