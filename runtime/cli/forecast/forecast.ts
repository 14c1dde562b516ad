import { settingsOf } from '../../controller/config.ts';
import { type Plan, plan } from '../../controller/plan/plan.ts';
import { isDone } from '../../controller/plan/facts/reasons.ts';
import { Rulings } from '../../controller/plan/facts/rulings.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import type { Inspection } from '../inspect.ts';
import { assumedOf } from './assumed.ts';
import { Durations } from './durations.ts';
import { REACTION_MS, VirtualFleet } from './virtual-fleet.ts';

/** An update that would start. Times are milliseconds since the Unix epoch. */
interface ForecastStart {
  readonly at: number;
  readonly node: string;
  readonly policy: string | undefined;
  readonly version: string | undefined;
  /** Undefined where it does not end within the forecast. */
  readonly endsAt: number | undefined;
}

/** A simulated rollout. */
export interface Forecast {
  readonly starts: readonly ForecastStart[];
  /** The time of the last change. */
  readonly endsAt: number;
  readonly mostAtOnce: number;
  /** The final verdicts on nodes that are not up to date in the end. */
  readonly left: readonly Verdict[];
  /** Whether the forecast ended at a limit, before the rollout did. */
  readonly isCut: boolean;
  readonly typicalMs: number;
  /** Whether `typicalMs` is a guess, because no node has completed an update. */
  readonly isDurationAssumed: boolean;
}

const LONGEST_MS = 400 * 24 * 3_600_000;
const MOST_PLANS = 100_000;

/** Limits of a forecast. */
interface Limits {
  readonly starts: number;
  readonly plans: number;
}

/** Simulates the rollout with the controller's own plan, from the moment of the inspection. */
export function forecastFrom(seen: Inspection, limits: Limits = { starts: Infinity, plans: MOST_PLANS }): Forecast {
  const rollout = new Rollout(seen, limits);
  while (rollout.advance());
  return rollout.forecast();
}

class Rollout {
  readonly #seen: Inspection;
  readonly #limits: Limits;
  readonly #settings;
  readonly #durations: Durations;
  readonly #fleet: VirtualFleet;
  /** By name of the node: the verdicts on those that are assumed to fail again. */
  readonly #failed: ReadonlyMap<string, Verdict>;
  readonly #starts: ForecastStart[] = [];
  readonly #ends = new Map<string, number[]>();
  #now: number;
  #last: Plan;
  #plans = 0;
  #changedAt: number;
  #mostAtOnce = 0;
  #isCut = false;

  constructor(seen: Inspection, limits: Limits) {
    this.#limits = limits;
    this.#seen = seen;
    this.#now = seen.now;
    this.#changedAt = seen.now;
    this.#last = seen.plan;
    this.#settings = { ...settingsOf(seen.config), conditionWrites: 0 };
    const { snapshot, failed } = assumedOf(seen);
    const { claims } = new Rulings(snapshot);
    this.#durations = new Durations(snapshot, (node) => claims.of(node).rules.soakMs);
    this.#fleet = new VirtualFleet(snapshot, this.#durations, seen.now);
    this.#failed = new Map(seen.plan.verdicts.filter(({ node }) => failed.has(node)).map((one) => [one.node, one]));
  }

  /** Makes one plan, carries it out, and moves the clock to the next change. @returns whether there is a next change */
  advance(): boolean {
    for (const node of this.#fleet.letAgentsAct(this.#now)) {
      this.#ends.set(node, [...(this.#ends.get(node) ?? []), this.#now]);
      this.#changedAt = this.#now;
    }
    const made = plan(this.#fleet.snapshot(this.#seen.policiesAt(this.#now)), this.#settings, this.#now);
    this.#last = made;
    this.#plans += 1;
    this.#note(made);
    this.#fleet.carryOut(made, this.#now);
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#fleet.updating);
    const next =
      made.commands.length + made.ledger.length > 0
        ? this.#now + REACTION_MS
        : Math.min(this.#fleet.nextStep, made.requeueAt ?? Infinity);
    const isEnough = this.#plans >= this.#limits.plans || this.#starts.length >= this.#limits.starts;
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
      left: this.#last.verdicts
        .filter(({ reason }) => !isDone(reason))
        .map((verdict) => this.#failed.get(verdict.node) ?? verdict),
      isCut: this.#isCut,
      typicalMs: this.#durations.typicalMs,
      isDurationAssumed: this.#durations.isAssumed,
    };
  }

  #endOf({ node, at }: ForecastStart): number | undefined {
    return this.#ends.get(node)?.find((end) => end > at);
  }
}
