import type { ShadowObject } from '../../../runtime/api/resources.ts';
import { hintIn } from '../../../runtime/api/shadow/hint.ts';
import type { AgentStatus, Status } from '../../../runtime/api/shadow/model.ts';
import { NAMESPACE, NOT_OF_AGENTS, shadowName } from '../../../runtime/api/shadow/names.ts';
import { clusterView } from '../../../runtime/agent/cluster.ts';
import { MINUTE_MS, rfc3339 } from '../../../runtime/lib/clock.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import { addBudget } from '../../../test/apiserver/budgets.ts';
import { Stage } from '../../../test/controller/stage.ts';
import { seeded } from '../../../test/random.ts';
import type { Bench, Figure } from '../bench.ts';

const SECOND_MS = 1000;
/** What hosts take, milliseconds. */
const PREPARE_MS = MINUTE_MS;
const REBOOT_MS = 3 * MINUTE_MS;

const PLACES = 3;
const NODES = 30;
const NEXT = '1.1.0';
/** All of them are in. */
const BOOT = 'boot-1';

interface Terms {
  readonly nodes: number;
  readonly places: number;
  /** The nodes of which a budget lets no pod go, by their turns. */
  readonly blocked: readonly number[];
  /** The budgets came once the update was offered, so that they are found once it is prepared. */
  readonly isLate?: boolean;
}

const nameOf = (turn: number): string => `n${String(turn).padStart(2, '0')}`;

/** On each of these runs the only pod that a budget covers. */
async function block(stage: Stage, names: readonly string[]): Promise<void> {
  await stage.create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  for (const name of names) {
    const metadata = { name, labels: { app: name } };
    const spec = { nodeName: name, containers: [{ name: 'web', image: 'web' }] };
    await stage.create('/api/v1/namespaces/shop/pods', { metadata, spec });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await stage.patch(`/api/v1/namespaces/shop/pods/${name}/status`, { status });
    await addBudget(stage, name, 'shop', name);
  }
}

/** What an agent does next, and how long its host takes for it. */
interface Doing {
  readonly ms: number;
  readonly said: Partial<AgentStatus>;
}

/**
 * The agents of a fleet under the real controller, in virtual time. Each acts as soon as its shadow changes, and takes as long as it is told. What they
 * say goes by the real apiserver. Some of their nodes cannot be drained.
 */
class Agents {
  readonly #stage: Stage;
  readonly #service: ReturnType<Stage['apiserver']>['service'];
  readonly #blocked: ReadonlySet<string>;
  readonly #life = new AbortController();
  /** By name of the node, since when its host downloads the release, whatever its agent is told meanwhile. */
  readonly #downloads = new Map<string, number>();
  readonly #done = new Set<string>();

  constructor(stage: Stage, blocked: readonly string[]) {
    this.#stage = stage;
    this.#service = stage.apiserver().service;
    this.#blocked = new Set(blocked);
  }

  /** Nodes that run the release, at rest. */
  get done(): number {
    return this.#done.size;
  }

  /** Has them say what their hosts offer. */
  async start(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const shadow = await this.#stage.shadows.get(shadowName(name));
      await this.#report(name, { ...ofAgent(shadow?.status), staged: {} });
      void this.#follow(name);
    }
  }

  end(): void {
    this.#life.abort();
  }

  async #follow(nodeName: string): Promise<void> {
    const { clock, transport } = this.#stage;
    const common = { transport, namespace: NAMESPACE, nodeName, clock, random: seeded(7), logger: silentLogger };
    let step = '';
    let life = new AbortController();
    for await (const shadow of clusterView(common).watchShadow(this.#life.signal)) {
      const next = shadow && stepOf(shadow);
      if (next === undefined || next === step) continue;
      step = next;
      life.abort();
      life = new AbortController();
      this.#act(nodeName, shadow as ShadowObject, life.signal).catch(() => undefined);
    }
    life.abort();
  }

  async #act(name: string, shadow: ShadowObject, signal: AbortSignal): Promise<void> {
    const { clock } = this.#stage;
    if (isAtRestOn(shadow, NEXT)) this.#done.add(name);
    if (this.#blocked.has(name) && shadow.spec.state === 'RebootedIntoUpdate') return this.#drain(name, signal);
    const doing = doingOf(shadow, () => this.#downloadedIn(name));
    if (!doing) return;
    await clock.sleep(doing.ms, signal);
    await this.#report(name, { ...ofAgent(shadow.status), ...doing.said });
  }

  /** Milliseconds until its host has the release, which it downloads once. */
  #downloadedIn(name: string): number {
    const now = this.#stage.clock.now();
    const since = this.#downloads.get(name) ?? now;
    this.#downloads.set(name, since);
    return Math.max(0, since + PREPARE_MS - now);
  }

  async #report(nodeName: string, status: Partial<AgentStatus>): Promise<void> {
    const nodeUid = (await this.#stage.nodes.get(nodeName))?.metadata.uid ?? '';
    await this.#service.putStatus({ agent: { nodeName, nodeUid, bootId: BOOT }, status, version: undefined });
  }

  /** It takes its place for as long as the rollout lasts. */
  async #drain(name: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#stage;
    const begunAt = clock.now();
    await this.#stage.mark(name);
    for (;;) {
      await this.#stage.report(name, { drain: drainAt(begunAt, clock.now()) });
      await clock.sleep(MINUTE_MS, signal);
    }
  }
}

const drainAt = (at: number, now: number): Status['drain'] => ({
  started_at: rfc3339(at),
  reported_at: rfc3339(now),
  pods_left: 1,
  blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'],
});

/** For as long as it stays the same, an agent goes on with what it does. */
const stepOf = ({ metadata, spec, status }: ShadowObject): string =>
  `${spec.state} ${status?.current_state} ${status?.current_version} ${hintIn(metadata.annotations)?.version}`;

const isAtRestOn = ({ spec, status }: ShadowObject, version: string): boolean =>
  spec.state === 'Idle' && status?.current_state === 'Idle' && status.current_version === version;

const ofAgent = (status: Status | null | undefined): Partial<AgentStatus> =>
  Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !(field in NOT_OF_AGENTS)));

/** Undefined where it has nothing to do. */
function doingOf({ metadata, spec: { state }, status }: ShadowObject, downloadedIn: () => number): Doing | undefined {
  if (!status) return undefined;
  if (state === status.current_state) {
    const isNamed = state === 'Idle' && hintIn(metadata.annotations) && status.staged?.version !== NEXT;
    return isNamed ? { ms: downloadedIn(), said: { staged: { version: NEXT, boot_id: BOOT } } } : undefined;
  }
  const said = { current_state: state };
  if (state === 'StagedAndPerformedUpdate') return { ms: downloadedIn(), said };
  if (state === 'RebootedIntoUpdate') return { ms: REBOOT_MS, said: { ...said, current_version: NEXT, staged: {} } };
  return { ms: 0, said };
}

/** Until all nodes but the blocked ones run the release, seconds. */
async function seconds({ nodes, places, blocked, isLate = false }: Terms): Promise<number> {
  const names = Array.from({ length: nodes }, (_, turn) => nameOf(turn));
  const stage = await Stage.with(...names);
  const agents = new Agents(stage, blocked.map(nameOf));
  if (isLate) await agents.start(names);
  await block(stage, blocked.map(nameOf));
  if (!isLate) await agents.start(names);
  const begun = stage.clock.now();
  stage.start({ env: { MAX_CONCURRENT_UPDATE: String(places), PROOF_NODES: '1' } });
  while (agents.done < nodes - blocked.length) await stage.pass(SECOND_MS / 10);
  const endedAt = stage.clock.now();
  agents.end();
  await stage.end();
  return (endedAt - begun) / SECOND_MS;
}

const figure = (name: string, value: number, atMost: number): Figure => ({ name, value, unit: 's', atMost });

/** By how much the others end later with these, seconds. */
async function delay(blocked: readonly number[], isLate = false): Promise<number> {
  const without = await seconds({ nodes: NODES - blocked.length, places: PLACES, blocked: [] });
  return (await seconds({ nodes: NODES, places: PLACES, blocked, isLate })) - without;
}

/** What nodes that can never be drained cost all others: here no deadline gives back the place that one takes. */
export const blocked: Bench = {
  name: 'blocked drain',
  what: '29 nodes beside one that can never be drained, in virtual time, and without it',
  run: async () => [
    figure('delay of the others where it is in the middle', await delay([15]), 0),
    figure('the same where it is to prove the release', await delay([0]), 0),
    figure('the same where three more would be next', await delay([0, 1, 2, 3]), 0),
    figure('the same where it was not so when the release was offered', await delay([0], true), 0),
    figure('the same where two more would be next', await delay([0, 1, 2], true), 0),
    // Nobody is prepared then that could go.
    figure('the same where three more would be', await delay([0, 1, 2, 3], true), PREPARE_MS / SECOND_MS),
  ],
};
