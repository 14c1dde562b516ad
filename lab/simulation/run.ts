import { EmbeddedCluster } from '../sim/cluster/cluster.ts';
import { chance } from './environment/chance.ts';
import { KubernetesEnvironment } from './environment/environment.ts';
import { kindOf } from './faults/catalogue.ts';
import { RULES } from './invariants/index.ts';
import { Picture } from './invariants/picture.ts';
import type { RuleJudge } from './invariants/rule.ts';
import { TrueTime } from './clock.ts';
import { History } from './history.ts';
import { install } from './installation.ts';
import { Moments } from './moments.ts';
import { SimulatedNetwork } from './network.ts';
import { Processes } from './processes.ts';
import type {
  Begun,
  Entry,
  FaultKind,
  Instant,
  Outcomes,
  PlannedFault,
  Process,
  Scenario,
  Struck,
  Violation,
  World,
} from './types.ts';

/** Once every judge has what it waits for, it must stay so for a while: what is at rest is at rest. */
const STAYS_MS = 120_000;

interface Terms {
  /** How long the calm lasts at most, milliseconds: as long as liveness needs. It ends before where every judge has what it waits for. */
  readonly calmMs: (scenario: Scenario) => number;
  /** Told of each entry when it is made. */
  readonly onEntry: (entry: Entry) => void;
}

/** Plays the scenario: storm, then calm, until all is as it should be or time is over. It ends at the first violation. */
export async function run(scenario: Scenario, terms: Terms): Promise<Outcomes> {
  const { stackTraceLimit } = Error;
  // Errors are ordinary here, and their stacks would cost more than all else.
  Error.stackTraceLimit = 0;
  try {
    return await new Simulation(scenario, terms).play();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

interface Named {
  readonly name: string;
  readonly judge: RuleJudge;
}

class Simulation implements World {
  readonly scenario: Scenario;
  readonly cluster: EmbeddedCluster;
  readonly environment: KubernetesEnvironment;
  readonly network: SimulatedNetwork;
  readonly #terms: Terms;
  readonly #time: TrueTime;
  readonly #history: History;
  readonly #moments: Moments;
  readonly #processes: Processes;
  /** What all judges look at. */
  readonly #picture: Picture;
  readonly #judges: readonly Named[];
  readonly #violations: Violation[] = [];
  readonly #faults = new Map<string, number>();
  readonly #ends = new Set<() => void>();
  #failure: { readonly error: unknown } | undefined;

  constructor(scenario: Scenario, terms: Terms) {
    const random = (concern: string) => chance(scenario.seed, concern);
    this.scenario = scenario;
    this.#terms = terms;
    const time = new TrueTime(random('time'));
    const moments = new Moments(time, (node) => this.#processes.agentRuns(node));
    const history = new History(
      () => time.monotonic(),
      (entry) => this.#see(entry),
    );
    this.#time = time;
    this.#moments = moments;
    this.#history = history;
    const picture = new Picture(scenario);
    this.#picture = picture;
    this.#judges = RULES.map(({ name, begin }) => ({ name, judge: begin(picture, scenario) }));
    const onChange: History['changed'] = (type, change) => history.changed(type, change);
    this.cluster = new EmbeddedCluster({ clock: time, random: random('cluster'), auditLimit: 1, onChange });
    this.network = new SimulatedNetwork({
      time,
      history,
      moments,
      random: random('network'),
      cluster: this.cluster,
    });
    this.cluster.setWebhooks(this.network.replicas.dial);
    const processes = new Processes({ scenario, time, history, network: this.network });
    this.#processes = processes;
    this.environment = new KubernetesEnvironment({
      scenario,
      time,
      cluster: this.cluster,
      containers: processes,
      onHost: (entry) => history.add(entry),
    });
  }

  get now(): Instant {
    return this.#time.monotonic();
  }

  get processes(): readonly Process[] {
    return this.#processes.all;
  }

  async play(): Promise<Outcomes> {
    const { stormMs, faults } = this.scenario;
    const setUp = install(this.cluster).then(() => this.environment.begin());
    setUp.catch((error: unknown) => this.#fail(error));
    for (const fault of faults) this.#plan(fault);
    await this.#until(stormMs);
    this.#calm();
    await this.#until(stormMs + this.#terms.calmMs(this.scenario), this.#isAllMet());
    if (this.#failure) throw this.#failure.error;
    for (const { name, judge } of this.#judges) this.#note(name, judge.end?.(this.now) ?? []);
    return {
      violations: this.#violations,
      history: this.#history.entries,
      faults: Object.fromEntries(this.#faults),
      moments: this.#moments.counts,
      virtualMs: this.now,
    };
  }

  #until(end: Instant, isMet: () => boolean = () => false): Promise<void> {
    const isFound = (): boolean => this.#violations.length > 0;
    return this.#time.run(end, () => this.#failure !== undefined || isFound() || isMet());
  }

  /** Whether every judge has had what it waits for, for a while. */
  #isAllMet(): () => boolean {
    let since: Instant | undefined;
    const waiting = this.#judges.flatMap(({ judge }) => (judge.isMet ? [judge] : []));
    return () => {
      const isMet = waiting.every((judge) => judge.isMet?.());
      since = isMet ? (since ?? this.now) : undefined;
      return since !== undefined && this.now - since >= STAYS_MS;
    };
  }

  #plan(fault: PlannedFault): void {
    const kind = kindOf(fault.kind);
    const { when } = fault;
    const begin = (struck?: Struck): boolean => this.#begin(fault, kind, struck);
    if (when.kind === 'moment') this.#moments.aim(when, begin);
    else this.#time.after(when.at - this.now, () => void begin());
  }

  /** Whether it has begun: there may be nothing to strike. */
  #begin({ id, kind: name, forMs, dice }: PlannedFault, kind: FaultKind, struck: Struck | undefined): boolean {
    if (this.now > this.scenario.stormMs) return false;
    const random = chance(dice, name);
    const about = { kind: 'fault', id, name } as const;
    const begun: Begun | undefined = kind.begin(this, { random, forMs, ...(struck && { struck }) });
    if (!begun) return false;
    this.#faults.set(name, (this.#faults.get(name) ?? 0) + 1);
    this.#history.add({ ...about, about: begun.about, phase: 'begins' });
    if (!begun.end) return true;
    const end = (): void => {
      if (!this.#ends.delete(end)) return;
      begun.end?.();
      this.#history.add({ ...about, about: begun.about, phase: 'ends' });
    };
    this.#ends.add(end);
    this.#time.after(forMs, end);
    return true;
  }

  #calm(): void {
    this.#moments.forget();
    for (const end of this.#ends) end();
    this.environment.calm();
    this.#history.add({ kind: 'calm' });
  }

  #see(entry: Entry): void {
    this.#moments.see(entry);
    this.#terms.onEntry(entry);
    this.#picture.see(entry);
    for (const { name, judge } of this.#judges) this.#note(name, judge.see?.(entry) ?? []);
  }

  #note(invariant: string, breaches: readonly string[]): void {
    for (const what of breaches) this.#violations.push({ at: this.now, invariant, what });
  }

  /** A mistake in the simulation, which is none of the operator's. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
  }
}
