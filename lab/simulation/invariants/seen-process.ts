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
    const known = this.#all.get(process);
    if (known) known.push(at);
    else this.#all.set(process, [at]);
  }

  /** Of the one that ran at the instant. */
  of(process: string, instant: Instant): Instant {
    return this.#all.get(process)?.findLast((begun) => begun <= instant) ?? 0;
  }
}

const AWAY: SeenProcess = { runs: false, since: -Infinity };
const NONE = { ours: AWAY, older: AWAY };

/** The agents of nodes, ours and the older operator's. */
export class SeenAgents {
  readonly #byNode = new Map<string, { ours: SeenProcess; older: SeenProcess }>();

  /** Nothing where the process is no agent. */
  see(process: string, seen: SeenProcess): void {
    const [, older, node] = /^(upstream-)?agent-(.*)$/.exec(process) ?? [];
    if (node === undefined) return;
    const agents = this.#byNode.get(node) ?? { ...NONE };
    agents[older ? 'older' : 'ours'] = seen;
    this.#byNode.set(node, agents);
  }

  /** The one that runs, or the last. */
  of(node: string): SeenProcess {
    const { ours, older } = this.#byNode.get(node) ?? NONE;
    if (ours.runs !== older.runs) return ours.runs ? ours : older;
    return ours.since > older.since ? ours : older;
  }
}
