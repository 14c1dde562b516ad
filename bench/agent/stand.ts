import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchOne } from '../../runtime/kube/one.ts';
import { type ShadowObject, shadowPort, shadowsPath } from '../../runtime/kube/shadows.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { Latest } from '../../runtime/lib/latest.ts';
import type { Spec } from '../../runtime/shadow/model.ts';
import { NAMESPACE, shadowName } from '../../runtime/shadow/names.ts';
import type { SimulatedHost } from '../../sim/hosts/host.ts';
import { childProcess, type RunningProgram, type StartProgram } from '../../sim/world/programs.ts';
import { createWorld } from '../../sim/world/world.ts';
import type { BenchContext } from '../bench.ts';

const NODE = 'node-1';
const SHADOW = shadowName(NODE);
/** What the host is offered. */
export const OFFERED = '1.39.0';
const RUNNING = '1.38.0';

/** There and back: an update that is prepared, and one that is called off. */
export const WANTED: readonly [Spec, Spec] = [
  { state: 'StagedAndPerformedUpdate', version: OFFERED },
  { state: 'Idle' },
];

type Env = Readonly<Record<string, string>>;

/** One node of an embedded cluster with the operator's apiserver and no controller, whose part the benchmark plays. */
export class Stand {
  readonly host: SimulatedHost;
  readonly #options: StandOptions;
  readonly #shadow = new Latest<ShadowObject | undefined>(undefined);
  readonly #agents: RunningProgram[] = [];

  constructor(options: StandOptions) {
    this.host = options.host;
    this.#options = options;
  }

  /** Keeps up with the node's shadow as the cluster's own watch tells it, until the signal aborts. */
  async follow(): Promise<void> {
    const { transport, signal } = this.#options;
    const options = { path: shadowsPath(NAMESPACE), name: SHADOW, clock: systemClock, random: Math.random, signal };
    for await (const shadow of watchOne<ShadowObject>(transport, options)) this.#shadow.set(shadow);
  }

  /** Starts an agent as a process of its own. @param command what runs its program, e.g. `['node']` */
  startAgent([program = '', ...args]: readonly string[], more: Env = {}): RunningProgram {
    const { root, dir, env } = this.#options;
    const start = childProcess(program, ...args, join(root, 'build', 'agent.mjs'));
    const agent = start({ ...env, ...more }, join(dir, 'agent.log'));
    this.#agents.push(agent);
    return agent;
  }

  /** Resolves when the node's shadow fits. */
  async until(fits: (shadow: ShadowObject) => boolean): Promise<void> {
    await this.#shadow.until((shadow) => shadow !== undefined && fits(shadow), this.#options.signal);
  }

  /** Writes what the controller would. */
  async want(spec: Spec): Promise<void> {
    await this.#shadows.patch(SHADOW, { spec });
  }

  async deleteShadow(): Promise<void> {
    const { value } = this.#shadow;
    if (value) await this.#shadows.delete(SHADOW, { uid: value.metadata.uid });
    await this.#shadow.until((shadow) => shadow === undefined, this.#options.signal);
  }

  /** Ends the agents that still run. */
  async end(): Promise<void> {
    for (const agent of this.#agents) agent.kill();
    await Promise.all(this.#agents.map(({ ended }) => ended));
  }

  get #shadows(): ReturnType<typeof shadowPort> {
    return shadowPort(this.#options.transport, NAMESPACE);
  }
}

interface StandOptions {
  readonly host: SimulatedHost;
  readonly transport: KubeTransport;
  readonly signal: AbortSignal;
  readonly root: string;
  /** For logs. */
  readonly dir: string;
  /** An agent's environment. */
  readonly env: Env;
}

/** Builds a stand, lets `use` work on it and takes it down. Its host is a thousand times faster than life. */
export async function withStand<T>(
  context: Pick<BenchContext, 'root' | 'signal'>,
  use: (stand: Stand) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const place = Promise.withResolvers<Env>();
  const world = await createWorld({
    options: OPTIONS,
    clock: systemClock,
    random: Math.random,
    root: context.root,
    dir,
    signal,
    edit: (manifests) => manifests.filter(({ metadata }) => metadata.name !== 'brupop-controller-deployment'),
    agent: standIn((env) => place.resolve(env)),
  });
  const running = world.run();
  running.catch((error: unknown) => place.reject(error));
  const host = world.nodes.get(NODE)?.host;
  if (!host) throw new Error(`the world has no ${NODE}`);
  const { transport } = world;
  const stand = new Stand({ host, transport, signal, root: context.root, dir, env: await place.promise });
  try {
    void stand.follow();
    return await use(stand);
  } finally {
    await stand.end();
    over.abort(new Error('measured'));
    await running.catch(() => undefined);
    await rm(dir, { recursive: true, force: true });
  }
}

const OPTIONS = {
  nodes: 1,
  concurrency: '1',
  from: RUNNING,
  to: OFFERED,
  speed: 1000,
  faults: new Map<string, string>(),
  keep: false,
};

/** The pod's program in name only: its environment is what the benchmark starts agents with. */
function standIn(onStart: (env: Env) => void): StartProgram {
  return (env) => {
    const end = Promise.withResolvers<void>();
    onStart(env);
    return { ended: end.promise, terminate: () => end.resolve(), kill: () => end.resolve() };
  };
}
