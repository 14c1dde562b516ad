import { instantOf } from '../lib/clock.ts';
import { upToDate } from './plan/condition.ts';
import { rebootRequest } from './plan/reboots.ts';
import type { NodeView, ShadowView } from './plan/snapshot.ts';
import type { AgentView, NodeFacts, ShadowFacts } from './views.ts';

/** A shadow with all that is known of it, but whether the view of it is up to date. */
export type ObservedShadow = Omit<ShadowView, 'stale'>;

/**
 * Since when things have been as they are, by the clock of this process: what the cluster shows without a time, and what it shows with the time
 * of another clock. A new process starts counting anew, which delays what depends on it and never hastens it.
 */
export class Observations {
  readonly #readiness = new FirstSeen();
  readonly #states = new FirstSeen();
  readonly #requests = new FirstSeen();
  readonly #failures = new FirstSeen();
  readonly #finishes = new FirstSeen();
  readonly #offers = new FirstSeen();
  #silences = new Map<string, Silence>();

  nodes(facts: readonly NodeFacts[], now: number): readonly NodeView[] {
    this.#readiness.turn();
    return facts.map(({ readinessStatedAt, ...node }) => {
      const readinessSeenAt = this.#readiness.at(node.uid, `${node.ready} ${readinessStatedAt}`, now);
      return { ...node, readinessSeenAt, readyChangedAt: Math.min(readinessStatedAt ?? now, readinessSeenAt) };
    });
  }

  shadows(facts: readonly ShadowFacts[], nodes: readonly NodeView[], now: number): readonly ObservedShadow[] {
    const nodesByShadow = new Map(nodes.map((node) => [node.shadowName, node]));
    for (const seen of [this.#states, this.#requests, this.#failures, this.#finishes, this.#offers]) seen.turn();
    return facts.map((shadow) => this.#observed(shadow, nodesByShadow.get(shadow.name), now));
  }

  #observed({ finishStatedAt, ...shadow }: ShadowFacts, node: NodeView | undefined, now: number): ObservedShadow {
    const { uid, spec, status } = shadow;
    const request = node && rebootRequest(shadow, node);
    return {
      ...shadow,
      stateSeenAt: this.#states.at(uid, `${spec.state} ${spec.version} ${status?.current_state}`, now),
      rebootAskedAt: request === undefined ? undefined : this.#requests.at(uid, request, now),
      failedAt: this.#failures.notLater(uid, instantOf(status?.state_transition_failure_timestamp), now),
      finishedAt: this.#finishes.notLater(uid, finishStatedAt, now),
      offeredAt: this.#offeredAt(shadow, now),
    };
  }

  /** As the condition says, else since this process has known. */
  #offeredAt({ uid, status }: Pick<ShadowFacts, 'uid' | 'status'>, now: number): number | undefined {
    if (!status || status.current_version === status.target_version) return undefined;
    const condition = upToDate(status);
    const stated = condition?.status === 'False' ? instantOf(condition.lastTransitionTime) : undefined;
    return Math.min(stated ?? now, this.#offers.at(uid, 'offered', now));
  }

  /** By node name, since when no container of its agent runs. One that has ended in the meantime has run in the meantime. */
  silence(nodes: readonly NodeFacts[], agents: Iterable<AgentView>, now: number): ReadonlyMap<string, number> {
    const running = new Set<string>();
    const ends = new Map<string, number>();
    for (const { node, running: runs, stoppedAt = -Infinity } of agents) {
      if (runs) running.add(node);
      else ends.set(node, Math.max(stoppedAt, ends.get(node) ?? -Infinity));
    }
    const silences = new Map<string, Silence>();
    for (const { name } of nodes) {
      if (running.has(name)) continue;
      const lastEnd = ends.get(name) ?? -Infinity;
      const before = this.#silences.get(name);
      silences.set(name, before && lastEnd <= before.lastEnd ? before : { since: now, lastEnd });
    }
    this.#silences = silences;
    return new Map([...silences].map(([name, { since }]) => [name, since]));
  }
}

interface Silence {
  readonly since: number;
  /** When the last container of the agent ended, by the clock of its node. */
  readonly lastEnd: number;
}

interface Seen {
  readonly value: string | number;
  readonly at: number;
}

/** By key, since when a value has been seen that is the same still. */
class FirstSeen {
  #before = new Map<string, Seen>();
  #seen = new Map<string, Seen>();

  /** All are looked at once more: what is not asked for until the next turn is forgotten. */
  turn(): void {
    this.#before = this.#seen;
    this.#seen = new Map();
  }

  at(key: string, value: string | number, now: number): number {
    const before = this.#before.get(key);
    const seen = before?.value === value ? before : { value, at: now };
    this.#seen.set(key, seen);
    return seen.at;
  }

  /** An instant that somebody else states; a time to come, by another's clock, is when it was first seen. */
  notLater(key: string, stated: number | undefined, now: number): number | undefined {
    return stated === undefined ? undefined : Math.min(stated, this.at(key, stated, now));
  }
}
