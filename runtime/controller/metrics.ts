import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Plan } from './plan/plan.ts';
import type { Snapshot } from './plan/snapshot.ts';
import { REASONS } from './plan/verdict.ts';

/** The controller's metrics. The first two are those of every installation so far; a series once shown goes to 0 and never away. */
export class ControllerMetrics {
  readonly registry = new Registry();
  readonly #states = this.#gauge('brupop_hosts_state', 'Hosts by the state that they have reached', 'state');
  readonly #versions = this.#gauge(
    'brupop_hosts_version',
    'Hosts by the version that they run',
    'bottlerocket_version',
  );
  readonly #verdicts = this.#gauge(
    'brupop_controller_verdicts',
    'Managed nodes by why they are not being updated',
    'reason',
  );
  readonly #leader = this.#gauge('brupop_controller_leader', 'Whether this process decides');
  readonly #slots = this.#gauge('brupop_controller_slots', 'Slots that are taken');
  readonly #planned = new Histogram({
    name: 'brupop_controller_plan_duration_seconds',
    help: 'Time that a plan took',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
    registers: [this.registry],
  });
  readonly #commands = new Counter({
    name: 'brupop_controller_commands_total',
    help: 'Commands that were planned',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  readonly #seenStates = new Set<string>();
  readonly #seenVersions = new Set<string>();

  /** What stands now. */
  show(
    { shadows, slots }: Pick<Snapshot, 'shadows' | 'slots'>,
    { verdicts }: Pick<Plan, 'verdicts'>,
    leading: boolean,
  ): void {
    const statuses = shadows.flatMap(({ status }) => status ?? []);
    fill(
      this.#states,
      'state',
      tally(
        statuses.map(({ current_state: state }) => state),
        this.#seenStates,
      ),
    );
    fill(
      this.#versions,
      'bottlerocket_version',
      tally(
        statuses.map(({ current_version: version }) => version),
        this.#seenVersions,
      ),
    );
    fill(
      this.#verdicts,
      'reason',
      tally(
        verdicts.map(({ reason }) => reason),
        new Set(REASONS),
      ),
    );
    this.#leader.set(Number(leading));
    this.#slots.set(slots.length);
  }

  /** A plan was made, in so many seconds. */
  planned({ commands }: Pick<Plan, 'commands'>, seconds: number): void {
    this.#planned.observe(seconds);
    for (const { kind } of commands) this.#commands.inc({ kind });
  }

  #gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

/** How often each value occurs; those of `seen` that no longer do, 0 times. */
function tally(values: readonly string[], seen: Set<string>): Map<string, number> {
  for (const value of values) seen.add(value);
  const counts = new Map([...seen].map((value) => [value, 0]));
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function fill(gauge: Gauge, label: string, counts: ReadonlyMap<string, number>): void {
  for (const [value, count] of counts) gauge.set({ [label]: value }, count);
}
