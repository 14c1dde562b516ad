import { timeOf } from './timeline.ts';
import { draw } from './scenario.ts';
import type { Outcomes, Scenario, Violation } from './types.ts';

/** One run to be made: what is needed to draw its scenario, and nothing else. */
export interface Job {
  readonly seed: number;
  readonly hours: number;
  readonly nodes?: number;
  /** The only faults, by number. */
  readonly only?: readonly number[];
  /** The run is over by then, milliseconds, whatever is left of the storm; no calm follows. */
  readonly until?: number;
  /** Lines of the timeline of a run that fails. */
  readonly last: number;
}

/** What a run came to, as one process tells another. */
export interface Result extends Pick<Outcomes, 'violations' | 'faults' | 'moments' | 'virtualMs'> {
  readonly job: Job;
  readonly nodes: number;
  /** Up to the first violation; empty where there is none. */
  readonly timeline: readonly string[];
  /** Of the planted mistakes, where somebody looks for them: those whose text was passed. */
  readonly passed?: readonly string[];
}

export function scenarioOf({ seed, hours, nodes, only, until = Infinity }: Job): Scenario {
  const scenario = draw(seed, { hours, ...(nodes !== undefined && { nodes }) });
  const faults = scenario.faults.filter(({ id }) => only?.includes(id) ?? true);
  return { ...scenario, faults, stormMs: Math.min(scenario.stormMs, until) };
}

/** What repeats the run. */
export function commandOf({ seed, hours, nodes, only }: Job): string {
  return [
    `npm run lab -- simulate --seed ${seed} --hours ${hours}`,
    ...(nodes === undefined ? [] : [`--nodes ${nodes}`]),
    ...(only === undefined ? [] : [`--only ${only.join(',') || 0}`]),
  ].join(' ');
}

/** What a run that failed prints. */
export function failureText({ job, nodes, violations, timeline }: Result): string {
  const [first] = violations;
  if (!first) return '';
  return [
    `seed ${job.seed} with ${nodes} nodes fails: ${toldViolation(first)}`,
    ...timeline.map((line) => `  ${line}`),
    ...violations.slice(1).map((violation) => `  then ${toldViolation(violation)}`),
    `repeat it with  ${commandOf(job)}`,
    '',
  ].join('\n');
}

const toldViolation = ({ at, invariant, what }: Violation): string => `"${invariant}" at ${timeOf(at)}: ${what}`;
