import type { Groups } from '../groups/groups.ts';
import type { Fleet } from '../nodes/health.ts';
import { compare } from '../facts/snapshot.ts';
import type { Halted, OsRelease, ReleaseUnderPolicy } from '../releases/os-release.ts';

interface Offers {
  readonly offered: readonly ReleaseUnderPolicy[];
  readonly halted: readonly Halted[];
}

/** The releases that nodes wait for, and those of them that no further node may start on. */
export function offers({ all }: Groups, { all: nodes }: Fleet): Offers {
  const offered: ReleaseUnderPolicy[] = [];
  const halted: Halted[] = [];
  for (const { rules, releases } of all) {
    for (const release of releases.all) {
      const { family, version } = release;
      if (!release.wanted) continue;
      const name = { family, version, ...(rules.name !== undefined && { policy: rules.name }) };
      offered.push(name);
      if (release.isStopped) halted.push({ ...name, ...haltOf(release, nodes) });
    }
  }
  return { offered, halted };
}

function haltOf({ book, proof }: OsRelease, nodes: Fleet['all']): Omit<Halted, keyof ReleaseUnderPolicy> {
  const { spent, whyHalted } = proof;
  const versions = new Map(nodes.map(({ node }) => [node.name, node.version]));
  const failed = (spent?.entries ?? book.entries).map(({ node, reason, at }) => ({
    node,
    reason,
    at,
    runs: versions.get(node),
  }));
  const isByNodes = whyHalted.because === 'Nodes' || spent !== undefined;
  return {
    ...whyHalted,
    failures: spent?.entries.length ?? book.counted,
    failed: failed.toSorted((a, b) => compare(a.node, b.node)),
    ...(isByNodes && { mayFail: spent?.mayFail ?? proof.haltsAt }),
  };
}
