import { Gauge, type Registry } from 'prom-client';
import { frozen } from '../plan/groups/group-times.ts';
import type { Preview } from '../deciding/planner.ts';

/** Where a node stands under its policy, as labels have it and as reports do. */
const STATES = [
  ['up_to_date', 'upToDate'],
  ['updating', 'updating'],
  ['waiting', 'waiting'],
  ['failed', 'failed'],
] as const;

/** The gauges of policies. A deleted policy leaves no series behind, or an alert on it would never end. */
export class PolicyMetrics {
  readonly #nodes: Gauge;
  readonly #halted: Gauge;
  readonly #accepted: Gauge;
  readonly #paused: Gauge;
  readonly #frozen: Gauge;
  readonly #willMiss: Gauge;
  readonly #late: Gauge;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string, ...more: string[]): Gauge =>
      new Gauge({
        name: `brupop_controller_policy_${name}`,
        help,
        labelNames: ['policy', ...more],
        registers: [registry],
      });
    this.#nodes = gauge('nodes', 'Nodes that a policy rules, by where they stand', 'state');
    this.#halted = gauge('halted_releases', 'Versions that no further node of a policy may start on');
    this.#accepted = gauge('accepted', 'Whether a policy can be obeyed');
    this.#paused = gauge('paused', 'Whether a policy is paused');
    this.#frozen = gauge('frozen', 'Whether one of the freezes of a policy holds');
    this.#willMiss = gauge('will_miss_deadline', 'Whether a release will not be complete under a policy by its date');
    this.#late = gauge(
      'late_seconds',
      'How late a release will be at least under a policy, and what most of the time goes to',
      'because',
    );
  }

  show({ policies, halted, snapshot, now }: Pick<Preview, 'policies' | 'halted' | 'snapshot' | 'now'>): void {
    this.#reset();
    for (const { name: policy, nodes, accepted, deadline, late } of policies) {
      for (const [state, key] of STATES) this.#nodes.set({ policy, state }, nodes[key]);
      this.#halted.set({ policy }, halted.filter((release) => release.policy === policy).length);
      this.#accepted.set({ policy }, Number(accepted.status === 'True'));
      if (deadline) this.#willMiss.set({ policy }, Number(deadline.status === 'True'));
      if (late) this.#late.set({ policy, because: late.because }, late.ms / 1000);
    }
    for (const { kind, policy } of snapshot.policies) {
      if (kind === 'broken' || policy.name === undefined) continue;
      this.#paused.set({ policy: policy.name }, Number(policy.paused));
      this.#frozen.set({ policy: policy.name }, Number(frozen(policy, now).finding !== undefined));
    }
  }

  #reset(): void {
    for (const gauge of [this.#nodes, this.#halted, this.#accepted, this.#paused, this.#frozen]) gauge.reset();
    for (const gauge of [this.#willMiss, this.#late]) gauge.reset();
  }
}
