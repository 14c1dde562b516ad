import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchOne } from '../../../runtime/kube/watch-one.ts';
import type { Collection } from '../../../runtime/kube/collection.ts';
import { type ShadowObject, shadowsOf, shadowsPath } from '../../../runtime/api/resources.ts';
import type { Node } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { Latest } from '../../../runtime/lib/latest.ts';
import type { Spec } from '../../../runtime/api/shadow/model.ts';
import { NAMESPACE, shadowName } from '../../../runtime/api/shadow/names.ts';
import type { SimulatedHost } from '../../sim/hosts/host.ts';
import { childProcess, type RunningProgram, type StartProgram } from '../../sim/world/programs.ts';
import { WORKLOAD, WORKLOAD_NAMESPACE } from '../../sim/world/workload.ts';
import { createWorld } from '../../sim/world/world.ts';
import type { BenchContext } from '../bench.ts';

const NODE = 'node-1';
const SHADOW = shadowName(NODE);
const NODE_PATH = `/api/v1/nodes/${NODE}`;
const BUDGET_PATH = `/apis/policy/v1/namespaces/${WORKLOAD_NAMESPACE}/poddisruptionbudgets/${WORKLOAD}`;
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
  /** Called when the node has booted again, and its pods start. */
  onBoot: () => void = () => undefined;
  readonly #options: StandOptions;
  readonly #shadow = new Latest<ShadowObject | undefined>(undefined);
  readonly #agents: RunningProgram[] = [];
  #env: Env;

  constructor(options: StandOptions) {
    this.host = options.host;
    this.#options = options;
    this.#env = options.env;
  }

  /** The node has booted again: this is what an agent finds there now. */
  booted(env: Env): void {
    this.#env = env;
    this.onBoot();
  }

  /** Keeps up with the node's shadow as the cluster's own watch tells it, until the signal aborts. */
  async follow(): Promise<void> {
    const { transport, signal } = this.#options;
    const options = { path: shadowsPath(NAMESPACE), name: SHADOW, clock: systemClock, random: Math.random, signal };
    for await (const shadow of watchOne<ShadowObject>(transport, options)) this.#shadow.set(shadow);
  }

  /** Starts an agent as a process of its own. @param command what runs its program, e.g. `['node']` */
  startAgent([program = '', ...args]: readonly string[], more: Env = {}): RunningProgram {
    const { root, dir } = this.#options;
    const start = childProcess(program, ...args, join(root, 'build', 'agent.mjs'));
    const agent = start({ ...this.#env, ...more }, join(dir, 'agent.log'));
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

  async node(): Promise<Node> {
    return (await this.#options.transport.request({ method: 'GET', path: NODE_PATH })) as Node;
  }

  async patchNode(body: object): Promise<void> {
    await this.#patch(NODE_PATH, body);
  }

  /** Whether the workload's budget lets any pod of it go. */
  async allowDisruptions(allowed: boolean): Promise<void> {
    await this.#patch(BUDGET_PATH, { spec: { minAvailable: allowed ? 0 : '100%' } });
  }

  #patch(path: string, body: object): Promise<unknown> {
    const contentType = 'application/merge-patch+json';
    return this.#options.transport.request({ method: 'PATCH', path, body, contentType });
  }

  /** Ends the agents that still run. */
  async end(): Promise<void> {
    for (const agent of this.#agents) agent.kill();
    await Promise.all(this.#agents.map(({ ended }) => ended));
  }

  get #shadows(): Collection<ShadowObject> {
    return shadowsOf(this.#options.transport, NAMESPACE);
  }
}

interface StandOptions {
  readonly host: SimulatedHost;
  readonly transport: KubeTransport;
  readonly signal: AbortSignal;
  readonly root: string;
  /** For logs. */
  readonly dir: string;
  /** An agent's environment in the first boot. */
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
  let stand: Stand | undefined;
  const world = await createWorld({
    options: OPTIONS,
    clock: systemClock,
    random: Math.random,
    root: context.root,
    dir,
    signal,
    edit: (manifests) => manifests.filter(({ metadata }) => metadata.name !== 'brupop-controller-deployment'),
    agent: standIn((env) => {
      place.resolve(env);
      stand?.booted(env);
    }),
  });
  const running = world.run();
  running.catch((error: unknown) => place.reject(error));
  const host = world.nodes.get(NODE)?.host;
  if (!host) throw new Error(`the world has no ${NODE}`);
  const { transport } = world;
  stand = new Stand({ host, transport, signal, root: context.root, dir, env: await place.promise });
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
