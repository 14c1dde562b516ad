import { settingsOf } from '../../controller/config.ts';
import { type Memory, type Plan, plan } from '../../controller/plan/plan.ts';
import type { CheckAnswers } from '../../controller/plan/facts/checks.ts';
import { isDone } from '../../controller/plan/facts/reasons.ts';
import type { UpdatePolicy } from '../../api/policy/policy.ts';
import { concurrency } from '../../api/policy/quantity.ts';
import { Rulings } from '../../controller/plan/facts/rulings.ts';
import type { PolicyView } from '../../controller/plan/facts/policies.ts';
import type { Settings, ShadowView, Snapshot } from '../../controller/plan/facts/snapshot.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import type { Inspection } from '../inspect.ts';
import { arrivalsIn } from './arrivals.ts';
import { assumedOf } from './assumed.ts';
import type { CrowdTerms } from './crowd.ts';
import { Durations } from './durations.ts';
import { REACTION_MS, VirtualFleet } from './virtual-fleet.ts';

/** An update that would start. Times are milliseconds since the Unix epoch. */
interface ForecastStart {
  readonly at: number;
  readonly node: string;
  readonly policy: string | undefined;
  readonly version: string | undefined;
  /** When the wave opens that brings it; undefined where the node was offered it from the beginning. */
  readonly waveAt: number | undefined;
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
  /** Policies have checks, whose answers nobody can know. */
  readonly areChecksAssumed: boolean;
}

const hasChecks = (view: PolicyView): boolean =>
  view.kind === 'valid' && Object.values(view.policy.checks).some((checks) => checks.length > 0);

const LONGEST_MS = 400 * 24 * 3_600_000;
const MOST_PLANS = 100_000;
/** Plans from one word on the progress to the next. */
const PROGRESS_EVERY = 500;

/** How a forecast is made. */
interface Limits {
  /** Most plans that are made. */
  readonly plans?: number;
  /** Whether it has taken long enough. */
  readonly isOver?: () => boolean;
  /** Every plan looks at every node: exact, but the time grows with the square of the fleet. */
  readonly allInSight?: boolean;
  /** Is told again and again how many updates were simulated. */
  readonly progress?: (starts: number) => void;
}

const UNWATCHED = { isOver: () => false, progress: () => undefined };

/** Simulates the rollout with the controller's own plan, from the moment of the inspection. */
export function forecastFrom(seen: Inspection, limits: Limits = {}): Forecast {
  const rollout = new Rollout(seen, limits);
  while (rollout.advance());
  return rollout.forecast();
}

/** How many nodes of a policy can start or prepare at once, and a few more. */
function roomsOf(
  { nodes, shadows }: Snapshot,
  { maxConcurrent, readAhead }: Settings,
  mayPause: (rules: UpdatePolicy, shadows: readonly ShadowView[]) => boolean,
): CrowdTerms['roomUnder'] {
  const all = concurrency(maxConcurrent, nodes.filter(({ managed }) => managed).length);
  const isPreparing = shadows.some(({ status }) => status?.staged != null);
  return (rules, of) => {
    if (mayPause(rules, of)) return Infinity;
    const members = of.length;
    const atOnce = Math.min(all, concurrency(rules.maxConcurrent, members));
    const ahead = readAhead === undefined ? atOnce : concurrency(readAhead, nodes.length);
    return 2 + atOnce + (isPreparing ? ahead : 0);
  };
}

class Rollout {
  readonly #seen: Inspection;
  readonly #limits: Required<Limits>;
  readonly #settings;
  readonly #durations: Durations;
  readonly #fleet: VirtualFleet;
  readonly #memory: Memory = {};
  /** Nobody knows what checks will be answered. They are taken for passed. */
  #answers: CheckAnswers = new Map();
  /** By name of the node: the verdicts at the beginning. */
  readonly #before: ReadonlyMap<string, Verdict>;
  /** Names of the nodes that stay as they are. */
  readonly #stuck: ReadonlySet<string>;
  /** When the wave of a version opens for a node: by name of the shadow, and version. */
  readonly #waves: ReadonlyMap<string, number>;
  readonly #starts: ForecastStart[] = [];
  readonly #ends = new Map<string, number[]>();
  #now: number;
  #plans = 0;
  #changedAt: number;
  #mostAtOnce = 0;
  #isCut = false;

  constructor(seen: Inspection, limits: Limits) {
    this.#limits = { plans: MOST_PLANS, allInSight: false, ...UNWATCHED, ...limits };
    this.#seen = seen;
    this.#now = seen.now;
    this.#changedAt = seen.now;
    this.#settings = { ...settingsOf(seen.config), conditionWrites: 0 };
    const { snapshot, stuck } = assumedOf(seen);
    const { claims } = new Rulings(snapshot);
    this.#durations = new Durations(snapshot, (node) => claims.of(node).rules.soakMs);
    const { ownNode } = this.#settings;
    const arrivals = arrivalsIn(snapshot, seen.now);
    this.#waves = new Map(arrivals.map(({ shadow, version, at }) => [`${shadow} ${version}`, at]));
    const terms = { durations: this.#durations, stuck, ownNode, now: seen.now, arrivals };
    // Who waits for the end of an interval takes no turn by age.
    const mayPause = ({ minIntervalMs = 0 }: UpdatePolicy, shadows: readonly ShadowView[]): boolean =>
      minIntervalMs > 0 &&
      (arrivals.length > 0 || shadows.some(({ finishedAt }) => (finishedAt ?? -Infinity) + minIntervalMs > seen.now));
    const roomUnder = limits.allInSight ? () => Infinity : roomsOf(snapshot, this.#settings, mayPause);
    this.#fleet = new VirtualFleet(snapshot, { ...terms, roomUnder });
    this.#before = new Map(seen.plan.verdicts.map((one) => [one.node, one]));
    this.#stuck = stuck;
  }

  /** Makes one plan, carries it out, and moves the clock to the next change. @returns whether there is a next change */
  advance(): boolean {
    for (const node of this.#fleet.letAgentsAct(this.#now)) {
      this.#ends.set(node, [...(this.#ends.get(node) ?? []), this.#now]);
      this.#changedAt = this.#now;
    }
    const at = { now: this.#now, memory: this.#memory };
    const fleet = this.#fleet.snapshot(this.#seen.policiesAt(this.#now));
    const made = plan({ ...fleet, checks: this.#answers }, this.#settings, at);
    this.#answers = new Map(made.tries.map(({ id }) => [id, { kind: 'passed', message: '' }]));
    this.#plans += 1;
    this.#note(made);
    this.#fleet.carryOut(made, this.#now);
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#fleet.updating);
    return this.#goOn(
      made.commands.length + made.ledger.length + made.tries.length > 0
        ? this.#now + REACTION_MS
        : Math.min(this.#fleet.nextStep, made.requeueAt ?? Infinity),
    );
  }

  /** @param next when something changes; Infinity = never */
  #goOn(next: number): boolean {
    const { plans, isOver, progress } = this.#limits;
    if (this.#plans % PROGRESS_EVERY === 0) progress(this.#starts.length);
    const isEnough = this.#plans >= plans || isOver();
    this.#isCut = next < Infinity && (isEnough || next > this.#seen.now + LONGEST_MS);
    if (next === Infinity || this.#isCut) return false;
    this.#now = next;
    return true;
  }

  #note({ commands }: Plan): void {
    for (const command of commands) {
      if (command.kind !== 'start') continue;
      const { node, shadow, version, policy } = command;
      const waveAt = this.#waves.get(`${shadow} ${version}`);
      this.#starts.push({ at: this.#now, node, policy: policy?.name || undefined, version, waveAt, endsAt: undefined });
      this.#changedAt = this.#now;
    }
  }

  forecast(): Forecast {
    const { policiesAt } = this.#seen;
    const last = plan(this.#fleet.whole(policiesAt(this.#now)), this.#settings, { now: this.#now });
    return {
      starts: this.#starts.map((start) => Object.assign(start, { endsAt: this.#endOf(start) })),
      endsAt: this.#changedAt,
      mostAtOnce: this.#mostAtOnce,
      left: last.verdicts
        .filter(({ reason }) => !isDone(reason))
        .map((verdict) => (this.#stays(verdict.node) ? (this.#before.get(verdict.node) ?? verdict) : verdict)),
      isCut: this.#isCut,
      typicalMs: this.#durations.typicalMs,
      isDurationAssumed: this.#durations.isAssumed,
      areChecksAssumed: policiesAt(this.#now).some(hasChecks),
    };
  }

  #stays(node: string): boolean {
    return this.#stuck.has(node) || this.#fleet.givenUp.has(node);
  }

  #endOf({ node, at }: ForecastStart): number | undefined {
    return this.#ends.get(node)?.find((end) => end > at);
  }
}
