import type { NodeView } from '../plan/facts/snapshot.ts';
import type { AgentView } from './views.ts';

/** That no container of a node's agent runs. */
export interface Silence {
  /** Of the Node: another under its name has its own time. */
  readonly uid: string;
  since: number;
  /** When the last container of the agent ended, by the clock of its node. */
  readonly lastEnd: number;
}

interface Seen {
  readonly nodes: readonly Pick<NodeView, 'name' | 'uid'>[];
  readonly agents: Iterable<AgentView>;
  readonly now: number;
}

/** By node name. If a container has ended since the last look, the agent was running in between. @param before at the last look */
export function silencesOf(before: ReadonlyMap<string, Silence>, { nodes, agents, now }: Seen): Map<string, Silence> {
  const running = new Set<string>();
  const ends = new Map<string, number>();
  for (const { node, running: runs, stoppedAt = -Infinity } of agents) {
    if (runs) running.add(node);
    else ends.set(node, Math.max(stoppedAt, ends.get(node) ?? -Infinity));
  }
  const silences = new Map<string, Silence>();
  for (const { name, uid } of nodes) {
    if (running.has(name)) continue;
    const lastEnd = ends.get(name) ?? -Infinity;
    const last = before.get(name);
    silences.set(name, last && goesOn(last, { uid, lastEnd }) ? last : { uid, since: now, lastEnd });
  }
  return silences;
}

const goesOn = (before: Silence, { uid, lastEnd }: Pick<Silence, 'uid' | 'lastEnd'>): boolean =>
  before.uid === uid && lastEnd <= before.lastEnd;
