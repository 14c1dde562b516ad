import type { ShadowObject } from '../../../runtime/api/resources.ts';
import { hintIn } from '../../../runtime/api/shadow/hint.ts';
import type { AgentStatus, Status } from '../../../runtime/api/shadow/model.ts';
import { NOT_OF_AGENTS } from '../../../runtime/api/shadow/names.ts';
import { MINUTE_MS, rfc3339 } from '../../../runtime/lib/clock.ts';
import { addBudget } from '../../../test/apiserver/budgets.ts';
import { Stage } from '../../../test/controller/stage.ts';
import type { Bench, Figure } from '../bench.ts';

const SECOND_MS = 1000;
/** What agents take, milliseconds, and how often they look. */
const PREPARE_MS = MINUTE_MS;
const REBOOT_MS = 3 * MINUTE_MS;
const LOOK_MS = 5 * SECOND_MS;

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

/**
 * A fleet under the real controller in virtual time. Its agents take as long as they are told, and some of them cannot be drained. What they say goes
 * by the real apiserver.
 */
class Fleet {
  readonly #stage: Stage;
  readonly #service: ReturnType<Stage['apiserver']>['service'];
  readonly #blocked: ReadonlySet<string>;
  /** By name, since when it does what it is told. */
  readonly #began = new Map<string, { readonly step: string; readonly at: number }>();

  constructor(stage: Stage, blocked: readonly string[]) {
    this.#stage = stage;
    this.#service = stage.apiserver().service;
    this.#blocked = new Set(blocked);
  }

  /** Lets each agent do what is due. @returns how many of the others run the release, at rest */
  async act(): Promise<number> {
    const shadows = await this.#stage.shadows.list();
    for (const shadow of shadows) await this.#actFor(shadow.metadata.name.replace('brs-', ''), shadow);
    return shadows.filter(({ status }) => status?.current_state === 'Idle' && status.current_version === NEXT).length;
  }

  async #actFor(name: string, shadow: ShadowObject): Promise<void> {
    const now = this.#stage.clock.now();
    const at = this.#since(name, shadow);
    if (this.#blocked.has(name) && shadow.spec.state === 'RebootedIntoUpdate') return this.#drain(name, at);
    const said = isToPrepare(shadow) ? aheadAfter(now - at) : saidAfter(shadow, now - at);
    if (said) await this.#report(name, { ...ofAgent(shadow.status), ...said });
  }

  async #report(nodeName: string, status: Partial<AgentStatus>): Promise<void> {
    const nodeUid = (await this.#stage.nodes.get(nodeName))?.metadata.uid ?? '';
    await this.#service.putStatus({ agent: { nodeName, nodeUid, bootId: BOOT }, status, version: undefined });
  }

  /** Since when it is told the same. */
  #since(name: string, { metadata, spec, status }: ShadowObject): number {
    const step = `${spec.state} ${status?.current_state} ${hintIn(metadata.annotations)?.version}`;
    const known = this.#began.get(name);
    const at = known?.step === step ? known.at : this.#stage.clock.now();
    this.#began.set(name, { step, at });
    return at;
  }

  /** It takes its place for as long as the rollout lasts. */
  async #drain(name: string, at: number): Promise<void> {
    const now = this.#stage.clock.now();
    if (at === now) await this.#stage.mark(name);
    await this.#stage.report(name, { drain: drainAt(at, now) });
  }
}

const drainAt = (at: number, now: number): Status['drain'] => ({
  started_at: rfc3339(at),
  reported_at: rfc3339(now),
  pods_left: 1,
  blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'],
});

/** It is to prepare its update while it waits. */
const isToPrepare = ({ metadata, status }: ShadowObject): boolean =>
  hintIn(metadata.annotations) !== undefined && status?.staged?.version !== NEXT;

/** What it says then. */
const aheadAfter = (ms: number): Partial<AgentStatus> | undefined =>
  ms < PREPARE_MS ? undefined : { staged: { version: NEXT, boot_id: BOOT } };

const ofAgent = (status: Status | null | undefined): Partial<AgentStatus> =>
  Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => !(field in NOT_OF_AGENTS)));

/** What an agent reports that was told so this long ago; undefined while it works, or has nothing to do. */
function saidAfter({ spec, status }: ShadowObject, ms: number): Partial<AgentStatus> | undefined {
  const { state } = spec;
  if (!status || state === status.current_state) return undefined;
  if (state === 'RebootedIntoUpdate')
    return ms >= REBOOT_MS ? { current_state: state, current_version: NEXT } : undefined;
  const isStaged = status.staged?.version === NEXT || ms >= PREPARE_MS;
  return state !== 'StagedAndPerformedUpdate' || isStaged ? { current_state: state } : undefined;
}

/** Until all nodes but the blocked ones run the release, seconds. */
async function seconds({ nodes, places, blocked }: Terms): Promise<number> {
  const names = Array.from({ length: nodes }, (_, turn) => nameOf(turn));
  const stage = await Stage.with(...names);
  for (const name of names) await stage.report(name, { staged: {} });
  await block(stage, blocked.map(nameOf));
  const others = nodes - blocked.length;
  const fleet = new Fleet(stage, blocked.map(nameOf));
  const begun = stage.clock.now();
  stage.start({ env: { MAX_CONCURRENT_UPDATE: String(places), PROOF_NODES: '1' } });
  while ((await fleet.act()) < others) await stage.pass(LOOK_MS);
  const endedAt = stage.clock.now();
  await stage.end();
  return (endedAt - begun) / SECOND_MS;
}

const figure = (name: string, value: number, atMost: number): Figure => ({ name, value, unit: 's', atMost });

/** By how much the others end later with these, seconds. */
async function delay(...blocked: readonly number[]): Promise<number> {
  const without = await seconds({ nodes: NODES - blocked.length, places: PLACES, blocked: [] });
  return (await seconds({ nodes: NODES, places: PLACES, blocked })) - without;
}

/** What it takes to see who can be drained, to call one off and to start another. */
const LOOKS_S = 30;

/** What nodes that can never be drained cost all others: here no deadline gives back the place that one takes. */
export const blocked: Bench = {
  name: 'blocked drain',
  what: '29 nodes beside one that can never be drained, in virtual time, and without it',
  run: async () => [
    figure('delay of the others where it is in the middle', await delay(15), 0),
    figure('the same where it is to prove the release', await delay(0), LOOKS_S),
    figure('the same where two more would be next', await delay(0, 1, 2), LOOKS_S),
    // Nobody is prepared then that could go.
    figure('the same where three more would be', await delay(0, 1, 2, 3), LOOKS_S + PREPARE_MS / SECOND_MS),
  ],
};
