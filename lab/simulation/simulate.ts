import { calmMs } from './invariants/liveness.ts';
import { type Job, type Result, scenarioOf } from './job.ts';
import { run } from './run.ts';
import { timeline } from './timeline.ts';
import type { Entry, Outcomes } from './types.ts';

/** One run in this process. */
export function play(job: Job, onEntry: (entry: Entry) => void = () => undefined): Promise<Outcomes> {
  return run(scenarioOf(job), {
    calmMs: job.until === undefined ? calmMs : () => 0,
    onEntry,
  });
}

/** The same, as it is told to another process. */
export async function simulate(job: Job, onProgress: (at: number) => void = () => undefined): Promise<Result> {
  const { history, ...outcomes } = await play(job, ({ at }) => onProgress(at));
  const [first] = outcomes.violations;
  const lines = first ? timeline(history, first, job.last) : [];
  return { job, nodes: scenarioOf(job).nodes, ...outcomes, timeline: lines };
}
