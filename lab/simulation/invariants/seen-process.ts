import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Instant } from '../types.ts';

/** Whether a process runs, and since when that is so. */
export interface SeenProcess {
  readonly runs: boolean;
  readonly since: Instant;
}

/** When processes began: what one has sent may land when it has ended, or the next of its name runs. */
export class Beginnings {
  readonly #all = new Map<string, Instant[]>();

  note(process: string, at: Instant): void {
    getOrInsert(this.#all, process, () => []).push(at);
  }

  /** Of the one that ran at the instant. */
  of(process: string, instant: Instant): Instant {
    return this.#all.get(process)?.findLast((begun) => begun <= instant) ?? 0;
  }
}

const AWAY: SeenProcess = { runs: false, since: -Infinity };

/** The agent of the node, ours or the older operator's: the one that runs, or the last. */
export function agentOf(processes: ReadonlyMap<string, SeenProcess>, node: string): SeenProcess {
  const ours = processes.get(`agent-${node}`) ?? AWAY;
  const older = processes.get(`upstream-agent-${node}`) ?? AWAY;
  if (ours.runs !== older.runs) return ours.runs ? ours : older;
  return ours.since > older.since ? ours : older;
}
