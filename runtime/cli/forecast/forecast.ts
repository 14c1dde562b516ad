import { settingsOf } from '../../controller/config.ts';
import { type Plan, plan } from '../../controller/plan/plan.ts';
import { Rulings } from '../../controller/plan/rulings.ts';
import type { Verdict } from '../../controller/plan/verdict.ts';
import type { Inspection } from '../inspect.ts';
import { Durations } from './durations.ts';
import { REACTION_MS, VirtualFleet } from './fleet.ts';

/** An update that would start. Times are milliseconds since the Unix epoch. */
export interface Foreseen {
  readonly at: number;
  readonly node: string;
  readonly policy: string | undefined;
  readonly version: string | undefined;
  /** Undefined where it does not end in the time that is looked at. */
  readonly endsAt: number | undefined;
}

/** A rollout ahead of time. */
export interface Forecast {
  readonly starts: readonly Foreseen[];
  /** When nothing more happens. */
  readonly endsAt: number;
  readonly mostAtOnce: number;
  /** What is said in the end of the nodes that do not run what they are offered. */
  readonly left: readonly Verdict[];
  /** There was more to come. */
  readonly isCut: boolean;
  readonly typicalMs: number;
  /** No node has completed an update here, so what one takes is a guess. */
  readonly isDurationAssumed: boolean;
}

const LONGEST_MS = 400 * 24 * 3_600_000;
const MOST_PLANS = 100_000;

/** How far ahead is looked. */
interface Most {
  readonly starts: number;
  readonly plans: number;
}

/** Goes through the rollout on the controller's own plan, from the moment of the inspection on. */
export function foresee(seen: Inspection, most: Most = { starts: Infinity, plans: MOST_PLANS }): Forecast {
  const rollout = new Rollout(seen, most);
  while (rollout.goOn());
  return rollout.forecast();
}

class Rollout {
  readonly #seen: Inspection;
  readonly #most: Most;
  readonly #settings;
  readonly #durations: Durations;
  readonly #fleet: VirtualFleet;
  readonly #starts: Foreseen[] = [];
  readonly #ends = new Map<string, number[]>();
  #now: number;
  #last: Plan;
  #plans = 0;
  #changedAt: number;
  #mostAtOnce = 0;
  #isCut = false;

  constructor(seen: Inspection, most: Most) {
    this.#most = most;
    this.#seen = seen;
    this.#now = seen.now;
    this.#changedAt = seen.now;
    this.#last = seen.plan;
    this.#settings = { ...settingsOf(seen.config), conditionWrites: 0 };
    const { claims } = new Rulings(seen.snapshot);
    this.#durations = new Durations(seen.snapshot, (node) => claims.of(node).rules.soakMs);
    this.#fleet = new VirtualFleet(seen.snapshot, this.#durations, seen.now);
  }

  /** One plan, and on to when there is something to do again. @returns whether there is */
  goOn(): boolean {
    for (const node of this.#fleet.letAgentsAct(this.#now)) {
      this.#ends.set(node, [...(this.#ends.get(node) ?? []), this.#now]);
      this.#changedAt = this.#now;
    }
    const made = plan(this.#fleet.snapshot(this.#seen.policiesAt(this.#now)), this.#settings, this.#now);
    this.#last = made;
    this.#plans += 1;
    this.#note(made);
    this.#fleet.carryOut(made.commands, this.#now);
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#fleet.updating);
    const next =
      made.commands.length > 0 ? this.#now + REACTION_MS : Math.min(this.#fleet.nextStep, made.requeueAt ?? Infinity);
    const isEnough = this.#plans >= this.#most.plans || this.#starts.length >= this.#most.starts;
    this.#isCut = next < Infinity && (isEnough || next > this.#seen.now + LONGEST_MS);
    if (next === Infinity || this.#isCut) return false;
    this.#now = next;
    return true;
  }

  #note({ commands, verdicts }: Plan): void {
    const policies = new Map(verdicts.map(({ node, policy }) => [node, policy]));
    for (const command of commands) {
      if (command.kind !== 'start') continue;
      const { node, spec } = command;
      const version = spec.version ?? undefined;
      this.#starts.push({ at: this.#now, node, policy: policies.get(node), version, endsAt: undefined });
      this.#changedAt = this.#now;
    }
  }

  forecast(): Forecast {
    return {
      starts: this.#starts.map((start) => Object.assign(start, { endsAt: this.#endOf(start) })),
      endsAt: this.#changedAt,
      mostAtOnce: this.#mostAtOnce,
      left: this.#last.verdicts.filter(({ reason }) => reason !== 'UpToDate' && reason !== 'NoUpdateOffered'),
      isCut: this.#isCut,
      typicalMs: this.#durations.typicalMs,
      isDurationAssumed: this.#durations.isAssumed,
    };
  }

  #endOf({ node, at }: Foreseen): number | undefined {
    return this.#ends.get(node)?.find((end) => end > at);
  }
}
