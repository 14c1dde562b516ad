import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, instantOf } from '../../lib/clock.ts';
import type { RepositoryReader } from '../repositories/reader.ts';
import { resultOf } from './events.ts';
import type { Freshness } from '../seeing/freshness.ts';
import { NotificationMetrics } from './notification-metrics.ts';
import type { Command } from '../plan/facts/commands.ts';
import { arrivesUntil, bearsArriving } from '../plan/facts/arriving.ts';
import type { Plan } from '../plan/plan.ts';
import { nodeInfos } from '../plan/nodes/join.ts';
import { worseOn } from '../plan/nodes/evidence.ts';
import { isQueued, REASONS, type SetbackReason, SETBACKS } from '../plan/facts/reasons.ts';
import type { NodeView, ShadowView } from '../plan/facts/snapshot.ts';
import type { Planner, Preview } from '../deciding/planner.ts';
import { PolicyMetrics } from './policy-metrics.ts';

/** What is shown besides plans. */
interface Sources {
  readonly freshness: Pick<Freshness, 'ages'>;
  readonly repositories?: Pick<RepositoryReader, 'states'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** It bears the taint `arriving` for longer than it is meant to. */
const isOverdue = (node: NodeView, { settings, now }: Pick<Preview, 'settings' | 'now'>): boolean =>
  bearsArriving(node, settings) && arrivesUntil(node) <= now;

/** How an update can end. */
const RESULTS = ['succeeded', 'failed', 'cancelled', 'called_off', 'rescued'] as const;

/**
 * The controller's metrics. Those of hosts by state and by version keep the names of older versions. A series that was shown once stays, and goes
 * to 0.
 */
export class ControllerMetrics {
  readonly registry = new Registry();
  /**
   * Collecting this gauge sets all of them, so a scrape costs one plan. It must be registered first, because prom-client reads in that
   * order.
   */
  readonly #leader = new Gauge({
    name: 'brupop_controller_leader',
    help: 'Whether this process decides',
    registers: [this.registry],
    collect: () => this.#collect(),
  });
  readonly #states = this.#tally('brupop_hosts_state', 'Hosts by the state that they have reached', 'state');
  readonly #versions = this.#tally(
    'brupop_hosts_version',
    'Hosts by the version that they run',
    'bottlerocket_version',
  );
  readonly #verdicts = this.#tally(
    'brupop_controller_verdicts',
    'Managed nodes by why they are not being updated',
    'reason',
  );
  readonly #policies = new PolicyMetrics(this.registry);
  readonly #permits = this.#gauge('brupop_controller_slots', 'Permits that are taken');
  readonly #unreadable = this.#gauge(
    'brupop_controller_slots_unreadable',
    'Whether the list of permits was overwritten, so that nothing goes on',
  );
  readonly #planned = new Histogram({
    name: 'brupop_controller_plan_duration_seconds',
    help: 'Time that a plan took',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
    registers: [this.registry],
  });
  readonly #commands = this.#counter('brupop_controller_commands_total', 'Commands that were planned', 'kind');
  readonly #halted = this.#gauge('brupop_controller_halted_releases', 'Versions that no further node may start on');
  readonly #overdue = this.#gauge(
    'brupop_controller_overdue_arrivals',
    'Nodes that keep pods away as machines that have just joined, ten minutes after they were made',
  );
  readonly #queue = this.#gauge('brupop_controller_queue_length', 'Nodes that wait for others to be updated');
  readonly #updates = this.#counter('brupop_controller_updates_total', 'Updates by how they ended', 'result');
  readonly #notBack = this.#counter(
    'brupop_controller_workloads_not_back_total',
    'Updates that ended while workloads which their drain has moved did not run again',
  );
  readonly #warned = this.#gauge(
    'brupop_controller_workloads_warned',
    'Nodes whose pods are clearly worse on what they run than elsewhere, where their policy only warns of it',
  );
  readonly #setbacks = this.#counter(
    'brupop_controller_setbacks_total',
    'Nodes whose update made no progress or did not end well, by the verdict on them',
    'reason',
  );
  readonly #apiErrors = this.#counter(
    'brupop_controller_api_errors_total',
    'Requests and watches that failed, by HTTP status; conflicts are part of the trade',
    'code',
  );
  readonly #steps = new Histogram({
    name: 'brupop_controller_step_duration_seconds',
    help: 'Time from the wish for a state to its completion, by state; Update = all of them together',
    labelNames: ['step'],
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200],
    registers: [this.registry],
  });
  readonly #ages = this.#gauge(
    'brupop_controller_cache_age_seconds',
    'Time since the objects of a kind were last known to be as the API server has them',
    'cache',
  );
  #planner: Pick<Planner, 'preview'> | undefined;
  #freshness: Pick<Freshness, 'ages'> | undefined;

  constructor() {
    for (const result of RESULTS) this.#updates.inc({ result }, 0);
    for (const reason of SETBACKS) this.#setbacks.inc({ reason }, 0);
  }

  /** From now on each scrape shows the state at that moment. */
  collectFrom(planner: Pick<Planner, 'preview'>, { freshness, repositories, clock }: Sources): void {
    this.#planner = planner;
    this.#freshness = freshness;
    if (repositories) this.#addRepositories(repositories, clock);
  }

  #collect(): void {
    if (!this.#planner) return;
    const preview = this.#planner.preview();
    const { snapshot, verdicts, halted, leading } = preview;
    const { shadows, permits } = snapshot;
    const statuses = shadows.flatMap(({ status }) => status ?? []);
    const reasons = verdicts.map(({ reason }) => reason);
    this.#states(statuses.map(({ current_state: state }) => state));
    this.#versions(statuses.map(({ current_version: version }) => version));
    this.#verdicts(reasons, REASONS);
    this.#policies.show(preview);
    this.#leader.set(Number(leading));
    this.#permits.set(permits.length);
    this.#halted.set(halted.length);
    this.#overdue.set(snapshot.nodes.filter((node) => isOverdue(node, preview)).length);
    const failed = new Set(verdicts.flatMap(({ node, reason }) => (reason === 'WorkloadsWorse' ? node : [])));
    const worse = nodeInfos(snapshot).filter((info) => worseOn(info) !== undefined);
    this.#warned.set(worse.filter(({ node }) => !failed.has(node.name)).length);
    for (const [cache, ms] of this.#freshness?.ages() ?? []) this.#ages.set({ cache }, ms / 1000);
    this.#queue.set(reasons.filter(isQueued).length);
  }

  /** Registers the metrics of notifications, which are shown from now on. */
  addNotifications(): NotificationMetrics {
    return new NotificationMetrics(this.registry);
  }

  /** What is known of repositories. */
  #addRepositories(reader: Pick<RepositoryReader, 'states'>, clock: Pick<Clock, 'now'>): void {
    const labelNames = ['metadata'];
    const age = new Gauge({
      name: 'brupop_controller_repository_age_seconds',
      help: 'Time since a repository was last read well; of one that never was, nothing is shown',
      labelNames,
      registers: [this.registry],
      collect: () => {
        age.reset();
        for (const { metadata, readAt } of reader.states)
          if (readAt !== undefined) age.set({ metadata }, (clock.now() - readAt) / 1000);
      },
    });
    const failing = new Gauge({
      name: 'brupop_controller_repository_failing',
      help: 'Whether the last reading of a repository has failed',
      labelNames,
      registers: [this.registry],
      collect: () => {
        failing.reset();
        for (const { metadata, why } of reader.states) failing.set({ metadata }, Number(why !== undefined));
      },
    });
  }

  /** A plan was made, in so many seconds. */
  planned({ commands }: Pick<Plan, 'commands'>, seconds: number): void {
    this.#planned.observe(seconds);
    for (const { kind } of commands) this.#commands.inc({ kind });
  }

  /** @param shadow as the command was decided on; `now` in milliseconds since the Unix epoch */
  carriedOut(command: Command, shadow: ShadowView, now: number): void {
    if (command.kind === 'rescue') this.#updates.inc({ result: 'rescued' });
    if (command.kind === 'call-off') this.#updates.inc({ result: 'called_off' });
    const { state, state_transition_timestamp: since } = shadow.spec;
    if (command.kind !== 'set-spec' || state === 'Idle') return;
    const result = resultOf(shadow);
    if (result) this.#updates.inc({ result });
    if (result === 'failed' || result === 'cancelled') return;
    this.#took(state, instantOf(since), now);
    if (result) this.#took('Update', command.completes?.beganAt, now);
  }

  /** An update ended before all that its drain has moved ran again. */
  leftBehind(): void {
    this.#notBack.inc();
  }

  #took(step: string, since: number | undefined, now: number): void {
    if (since !== undefined) this.#steps.observe({ step }, Math.max(0, now - since) / 1000);
  }

  /** Whether the list of permits on the Lease could be read. */
  permitsRead(isReadable: boolean): void {
    this.#unreadable.set(Number(!isReadable));
  }

  /** A node's verdict has become this setback. */
  setBack(reason: SetbackReason): void {
    this.#setbacks.inc({ reason });
  }

  /** A request or a watch failed. */
  apiFailed(code: string): void {
    this.#apiErrors.inc({ code });
  }

  #counter(name: string, help: string, ...labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  /** Counts per label value. Values that were seen before, and those of `always`, stay at 0. */
  #tally(name: string, help: string, label: string): (values: readonly string[], always?: readonly string[]) => void {
    const gauge = this.#gauge(name, help, label);
    const shown = new Set<string>();
    return (values, always = []) => {
      for (const value of [...always, ...values]) shown.add(value);
      const occurring = Map.groupBy(values, (value) => value);
      for (const value of shown) gauge.set({ [label]: value }, occurring.get(value)?.length ?? 0);
    };
  }
}
