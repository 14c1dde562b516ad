import type { Pod } from '../../runtime/kube/objects.ts';
import { COMPONENTS, COMPONENT_LABEL } from '../../runtime/api/shadow/names.ts';
import type { Interval } from '../sim/view/efficiency.ts';
import type { Sighting } from '../../test/e2e/sighting.ts';
import { containersOf } from './containers.ts';
import type { ClusterStage } from './stage.ts';

/**
 * The hosts' own work, and the nodes' on top of it: from a host's boot until the kubelet has the agent's container running. Neither is
 * anything that an operator could shorten. By node.
 */
export function ownTime({ fleet, history }: ClusterStage): ReadonlyMap<string, readonly Interval[]> {
  return new Map(
    [...fleet.hosts].map(([name, { host }]) => {
      const starts = agentStarts(name, history.sightings);
      const boots = host.intervals.filter(({ action }) => action === 'reboot');
      return [name, [...host.intervals, ...boots.flatMap(({ endMs }) => untilAgent(endMs, starts))]];
    }),
  );
}

/** A start is known to the second. */
function untilAgent(upMs: number, starts: readonly number[]): readonly Interval[] {
  const startMs = starts.find((atMs) => atMs > upMs - 1000);
  return startMs === undefined ? [] : [{ startMs: upMs, endMs: Math.max(upMs, startMs) }];
}

function agentStarts(node: string, sightings: readonly Sighting[]): readonly number[] {
  const pods = sightings.map(({ object }) => object as Pod);
  const agents = pods.filter(
    ({ metadata, spec }) => metadata.labels?.[COMPONENT_LABEL] === COMPONENTS.agent && spec?.nodeName === node,
  );
  const starts = agents.flatMap(containersOf).flatMap(({ state }) => Date.parse(state?.running?.startedAt ?? '') || []);
  return [...new Set(starts)].toSorted((a, b) => a - b);
}
