import type { ShadowObject } from '../../../runtime/api/resources.ts';
import { rfc3339, systemClock } from '../../../runtime/lib/clock.ts';
import { Stage } from '../../controller/stage.ts';
import { definePolicies } from '../../policies.ts';
import { deploy } from '../deployed.ts';

/** A fleet of some years' practice, with names as a cloud gives them, and agents that take their time. */

export const MINUTE = 60_000;
const STEP_MS = 15_000;

/** What an agent needs for what it is asked, milliseconds, by the state that is wanted. */
const WORK_MS: Readonly<Record<string, number>> = {
  StagedAndPerformedUpdate: 75_000,
  RebootedIntoUpdate: 150_000,
};

export const nameOf = (index: number): string => `ip-10-0-${index % 3}-${17 + index * 7}.eu-central-1.compute.internal`;

interface Fleet {
  readonly count: number;
  /** How long it has been rolling by now, milliseconds. */
  readonly forMs: number;
  readonly policies: Readonly<Record<string, object>>;
  readonly settings?: Readonly<Record<string, string>>;
  /** By name: it fails on the way. */
  readonly fails?: ReadonlySet<string>;
}

/** By thirds in three zones; the first quarter are canaries. */
export async function rolling({ count, forMs, policies, settings = {}, fails = new Set() }: Fleet): Promise<Stage> {
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  const now = Math.floor(systemClock.now() / 1000) * 1000;
  const stage = await Stage.at(now - forMs, ...names);
  for (const [index, name] of names.entries()) {
    const zone = `eu-central-1${'abc'[index % 3]}`;
    const labels = { 'topology.kubernetes.io/zone': zone, tier: index < count / 4 ? 'canary' : 'prod' };
    await stage.patchNode(name, { metadata: { labels } });
  }
  await definePolicies(stage, policies);
  await deploy(stage, settings);
  const agents = new Agents(stage, fails);
  while (stage.clock.now() + STEP_MS < now) await agents.work();
  return stage;
}

/** Each does what its shadow asks for, in its time. */
class Agents {
  readonly #stage: Stage;
  readonly #fails: ReadonlySet<string>;
  readonly #asked = new Map<string, number>();

  constructor(stage: Stage, fails: ReadonlySet<string>) {
    this.#stage = stage;
    this.#fails = fails;
  }

  async work(): Promise<void> {
    await this.#stage.pass(STEP_MS);
    for (const shadow of await this.#stage.shadows.list()) await this.#act(shadow);
  }

  async #act({ metadata, spec, status }: ShadowObject): Promise<void> {
    if (spec.state === status?.current_state) return;
    const [name, now] = [metadata.name.replace('brs-', ''), this.#stage.clock.now()];
    const key = `${name} ${spec.state} ${spec.state_transition_timestamp}`;
    const since = this.#asked.get(key) ?? now;
    this.#asked.set(key, since);
    if (now - since < (WORK_MS[spec.state] ?? 0) * (0.8 + (name.length % 5) / 10)) return;
    if (spec.state === 'RebootedIntoUpdate' && this.#fails.has(name)) return fail(this.#stage, name);
    const version = spec.state === 'RebootedIntoUpdate' && { current_version: '1.1.0' };
    await this.#stage.report(name, { current_state: spec.state, ...version });
  }
}

/** It came back on its old version. */
export async function fail(stage: Stage, name: string): Promise<void> {
  const time = rfc3339(stage.clock.now());
  await stage.report(name, {
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: time,
    failed_versions: ['1.1.0'],
    last_failure: {
      state: 'RebootedIntoUpdate',
      reason: 'BootFailed',
      message: 'the host came back on 1.0.0: the new image did not start',
      version: '1.1.0',
      time,
    },
  });
}

/** It is cordoned, and this is what evictions of its drain are told. */
export async function block(stage: Stage, name: string, blockers: readonly string[]): Promise<void> {
  await stage.mark(name);
  const started_at = rfc3339(stage.clock.now() - 2 * MINUTE);
  await stage.report(name, { drain: { started_at, pods_left: 3, blocked_by: [...blockers] } });
}

export const canaryAndProd = {
  canary: { nodeSelector: { matchLabels: { tier: 'canary' } }, maxConcurrent: 2 },
  prod: { nodeSelector: { matchLabels: { tier: 'prod' } }, maxConcurrent: 3, after: ['canary'] },
} as const;
