import { readMarks } from '../../../runtime/api/marks/marks.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../../runtime/api/shadow/semver.ts';
import type { Recorder } from './recorder.ts';
import { duration } from './rows.ts';
import { verdictOf } from './verdict.ts';

export interface SummaryInput {
  readonly recorder: Recorder;
  /** Version that every node was to reach. */
  readonly to: string;
  readonly evictions: number;
}

export interface Summary {
  /** Empty when all went well; otherwise a sentence per node or matter. */
  readonly faults: readonly string[];
  readonly lines: readonly string[];
}

/** What there is to say at the end, and what is wrong, judged from the recorded streams and the objects as they are. */
export function summarise(input: SummaryInput): Summary {
  const { recorder, evictions } = input;
  const faults = [...nodeFaults(input), ...disruption(recorder)];
  const updated = [...recorder.nodes.values()].filter(
    (node) => versionOfOsImage(node.status?.nodeInfo?.osImage) === input.to,
  );
  return {
    faults,
    lines: [
      `${updated.length} of ${recorder.nodes.size} nodes run ${input.to}`,
      `duration ${duration(wall(recorder))}`,
      `${evictions} evictions, at most ${recorder.mostCordoned} node(s) cordoned at once`,
      `disruption below the workload's budget: ${recorder.leastSpare < 0 ? `${-recorder.leastSpare} pod(s)` : 'none'}`,
    ],
  };
}

/** From the first offer that was reported to the end of the last update, milliseconds. */
function wall({ offeredMs, updates }: Recorder): number {
  const ends = [...updates.values()].map(({ startMs, endMs }) => endMs ?? startMs);
  return offeredMs === undefined || ends.length === 0 ? 0 : Math.max(...ends) - offeredMs;
}

function nodeFaults({ recorder, to }: SummaryInput): string[] {
  return [...recorder.nodes.values()].flatMap((node) => {
    const { name } = node.metadata;
    const faults: string[] = [];
    const version = versionOfOsImage(node.status?.nodeInfo?.osImage);
    if (version !== to)
      faults.push(`${name} runs ${version ?? 'an unknown version'}, not ${to}: ${whyNot(recorder, name)}`);
    if (node.spec?.unschedulable) faults.push(`${name} is still cordoned`);
    if (readMarks(node)) faults.push(`${name} still bears the operator's marks`);
    return faults;
  });
}

function whyNot(recorder: Recorder, node: string): string {
  const shadow = recorder.shadows.get(shadowName(node));
  if (!shadow?.status) return 'its agent never reported';
  const { status } = shadow;
  const verdict = verdictOf(shadow);
  const failure = status.crash_count > 0 ? status.last_failure : undefined;
  return [
    failure && `${failure.reason} on ${failure.version ?? '?'}, ${failure.message} (crash count ${status.crash_count})`,
    verdict && `${verdict.reason}: ${verdict.message}`,
  ]
    .filter(Boolean)
    .join('; ');
}

function disruption({ leastSpare }: Recorder): string[] {
  return leastSpare < 0 ? [`the workload was ${-leastSpare} pod(s) below its budget`] : [];
}
