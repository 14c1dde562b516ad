import { compareSemver } from '../../api/shadow/semver.ts';
import { instantOf } from '../../lib/clock.ts';
import type { Inspection } from '../inspect.ts';
import type { FleetStatus } from '../status/status.ts';
import { comingIn } from '../waves/waves.ts';
import { reachText } from '../waves/words.ts';
import type { Count, ReleaseCurve } from './wire.ts';

/** Most steps of a curve: a large fleet would have one for each node. */
const MOST_STEPS = 60;

/** How the newest release of each family comes to its nodes, until all of them run it. */
export function curvesOf(reaches: FleetStatus['reaches'], { snapshot }: Inspection): readonly ReleaseCurve[] {
  const shadows = new Map(snapshot.shadows.map((shadow) => [shadow.name, shadow]));
  return reaches.flatMap(({ family, version, reach }) => {
    const coming = comingIn(snapshot, { family, version });
    if (!coming) return [];
    const ran = snapshot.nodes.flatMap((node) => {
      const shadow = node.family === family ? shadows.get(node.shadowName) : undefined;
      const runs = shadow?.status?.current_version;
      return runs === undefined || compareSemver(runs, version) < 0 ? [] : [shadow?.finishedAt ?? -Infinity];
    });
    const known = [...coming.times, ...ran].filter((at) => at !== -Infinity);
    const from = Math.min(...known, instantOf(coming.published.firstSeenAt) ?? Infinity);
    const [waves, runs] = [stepsOf(coming.times, from), stepsOf(ran, from)];
    return [{ family, version, nodes: reach.nodes, says: reachText(reach), waves, runs }];
  });
}

/** How many of the moments have come, from the beginning on. */
function stepsOf(moments: readonly number[], from: number): readonly Count[] {
  const sorted = moments.map((at) => Math.max(at, from)).toSorted((a, b) => a - b);
  const counts = new Map([[from, 0], ...sorted.map((at, index) => [at, index + 1] as const)]);
  const steps = [...counts].map(([at, count]) => ({ at, count }));
  const every = Math.ceil(steps.length / MOST_STEPS);
  return steps.filter((_, index) => index % every === 0 || index === steps.length - 1);
}
