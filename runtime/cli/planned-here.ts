import { keptIn } from '../controller/telling/plan-report.ts';
import { conditionUpToDate } from '../controller/plan/facts/conditions.ts';
import { durationText, instantOf } from '../lib/clock.ts';
import { nodeNameOf } from '../api/shadow/names.ts';
import type { Cluster } from './command.ts';
import { inspect } from './inspect.ts';
import type { Said } from './commands/why.ts';

/**
 * What `why` shows where the leader's own plan cannot be had: a plan made here, and what the leader wrote last.
 * @param missing why it cannot be had
 * @throws as `inspect`
 */
export async function plannedHere(cluster: Cluster, now: number, missing: string): Promise<Said> {
  const seen = await inspect(cluster, now, { policies: [], settings: {}, isSilent: true });
  const { snapshot } = seen;
  const written = snapshot.shadows.flatMap(({ name, status }) => {
    const condition = conditionUpToDate(status);
    const since = instantOf(condition?.lastTransitionTime);
    const age = since === undefined ? '' : `, ${durationText(now - since)} ago`;
    return condition ? [[nodeNameOf(name) ?? name, `${condition.reason}: ${condition.message}${age}`] as const] : [];
  });
  return {
    ...seen,
    ...keptIn(snapshot, seen.keepers()),
    source: 'here',
    unknown: [`the leader's own plan: ${missing}; this one is made here`, ...seen.unknown],
    written: new Map(written),
  };
}
