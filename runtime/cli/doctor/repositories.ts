import { durationText } from '../../lib/clock.ts';
import type { PlanReport } from '../../controller/telling/plan-report.ts';
import type { Cluster } from '../command.ts';
import { askPlan } from '../leader-plan.ts';
import { type DoctorFinding, namesText, ok, unknown } from './finding.ts';

export type RepositoryState = PlanReport['repositories'][number];

/** What the leader says of repositories; none where it does not answer. */
export async function repositoriesOf(cluster: Cluster): Promise<readonly RepositoryState[]> {
  const asked = await askPlan(cluster);
  return 'missing' in asked ? [] : asked.said.repositories;
}

/** Whether it is known when releases reach hosts. No update waits for that, so it is never a problem. */
export function repositoryFindings(states: readonly RepositoryState[], now: number): readonly DoctorFinding[] {
  const failing = states.filter(({ why }) => why !== undefined);
  if (states.length === 0) return [];
  if (failing.length === 0) return [ok('repositories', 'all repositories of releases were read')];
  return [...Map.groupBy(failing, sentence(now))].map(([says, all]) =>
    unknown('repositories', `${namesText(all.map(({ metadata }) => metadata))} ${says}`, TO_READ),
  );
}

const sentence =
  (now: number) =>
  ({ why, readAt }: RepositoryState): string => {
    const last = readAt === undefined ? 'never by this leader' : `${durationText(now - readAt)} ago`;
    return `cannot be read, so that nobody is told when releases reach nodes: ${why ?? ''} (last read ${last})`;
  };

const TO_READ =
  'Updates go on. Let the controller reach it on port 443, or set repositories: to mirrors, or to [] for none.';
