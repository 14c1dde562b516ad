import { expect } from '@jest/globals';
import type { Node } from '../../runtime/kube/objects.ts';
import {
  CONTROLLER_LEASE,
  GROUP,
  HOLD_ANNOTATION,
  MANAGED_LABEL,
  NAMESPACE,
  nodeNameOf,
  PAUSED_ANNOTATION,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { Scheduler } from './scheduler.ts';
import { Stage } from './stage.ts';
import { takesPermit } from './transports.ts';

/** Longer than a leader is waited for that is not heard of. */
export const PAST_THE_LEASE_MS = 16_000;

export interface DuelOptions {
  readonly nodes: readonly string[];
  readonly concurrency: number;
}

/** Two controllers on one fleet whose every read and write waits to be placed, and all that may happen to it meanwhile. */
export class Duel {
  readonly scheduler = new Scheduler();
  readonly stage: Stage;
  readonly #concurrency: number;
  /** UIDs of nodes whose agents act on a spec that they have read, wherever their shadows are by now. */
  readonly #atWork = new Set<string>();
  #hasTwin = false;
  #isPaused = false;

  private constructor(stage: Stage, concurrency: number) {
    this.stage = stage;
    this.#concurrency = concurrency;
    for (const actor of ['first', 'second']) this.#start(actor);
  }

  /** Up to where the first one leads and is about to take a permit. */
  static async begin({ nodes, concurrency }: DuelOptions): Promise<Duel> {
    const duel = new Duel(await Stage.withoutConditions(...nodes), concurrency);
    await duel.stage.pass(0);
    while (!duel.scheduler.holds('first', takesPermit)) {
      // Without anything to let go nobody would yield, and not even the test's timeout would come.
      if (!(await duel.scheduler.release(0, 'first'))) throw new Error('the first controller takes no permit');
    }
    while (await duel.scheduler.release(0, 'second'));
    return duel;
  }

  #start(actor: string, identity = actor): void {
    const env = { MAX_CONCURRENT_UPDATE: String(this.#concurrency) };
    this.stage.start({ transport: this.scheduler.transport(actor, this.stage.transport), env, identity });
  }

  /** Of the two controllers, their agents and the clock. */
  readonly moves: readonly (() => Promise<unknown>)[] = [
    () => this.scheduler.release(0, 'first'),
    () => this.scheduler.release(-1, 'first'),
    () => this.scheduler.release(0, 'second'),
    () => this.stage.pass(PAST_THE_LEASE_MS),
    () => this.moveAgents(),
  ];

  /** Of everybody else, each against the node that took the first permit. */
  readonly upheavals: readonly (() => Promise<unknown>)[] = [
    () => this.#onFirstPermit((name) => this.#deleteShadow(name)),
    () => this.#onFirstPermit((name) => this.#replace(name)),
    () => this.#onFirstPermit((name) => this.#remove(name)),
    () => this.#onFirstPermit((name) => this.#unlabel(name)),
    () => this.#moveTwin(),
    () => this.#onFirstPermit((name) => this.#hold(name)),
    () => this.#pause(),
  ];

  /** Each agent takes the next step that it is told to, as the cluster stands. One without a shadow registers its node anew. */
  async moveAgents(): Promise<void> {
    for (const node of await this.#nodes()) {
      const { name, uid } = node.metadata;
      if (!isManaged(node)) await this.#end(node);
      else if (await this.stage.shadows.get(shadowName(name))) await this.#step(name, uid);
      else {
        this.#atWork.delete(uid);
        await this.stage.register(node);
        await this.stage.report(name, AT_REST);
      }
    }
  }

  async #step(name: string, uid: string): Promise<void> {
    const { spec, status } = (await this.stage.shadows.get(shadowName(name)))!;
    if (!status || spec.state === status.current_state) return;
    const rebooted = spec.state === 'RebootedIntoUpdate' && { current_version: '1.1.0' };
    if (spec.state === 'Idle') this.#atWork.delete(uid);
    else this.#atWork.add(uid);
    await this.stage.report(name, { current_state: spec.state, ...rebooted });
  }

  /** Never more permits than the concurrency; no node in an update, and no agent at work, without one. */
  async check(): Promise<void> {
    const shadows = await this.stage.shadows.list();
    const active = shadows.filter(({ spec, status }) => spec.state !== 'Idle' || status?.current_state !== 'Idle');
    const busy = active.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
    const permits = await this.#permits();
    expect(permits.length).toBeLessThanOrEqual(this.#concurrency);
    expect(permits.map(({ nodeUid }) => nodeUid)).toEqual(expect.arrayContaining([...busy, ...this.#atWork]));
  }

  /** Everything comes through from here on, and nobody keeps anything back; the fleet must still get there. */
  async finish(): Promise<void> {
    for (const { metadata } of await this.#nodes()) if (isHeld(metadata)) await this.#hold(metadata.name);
    if (this.#isPaused) await this.#pause();
    for (let round = 0; round < 60; round++) {
      while (this.scheduler.waiting() > 0) await this.scheduler.release(0);
      await this.moveAgents();
      await this.check();
      await this.stage.pass(PAST_THE_LEASE_MS / 2);
      if (await this.#isOver()) break;
    }
    expect(await this.#isOver()).toBe(true);
  }

  async #isOver(): Promise<boolean> {
    const nodes = (await this.#nodes()).filter(isManaged);
    const shadows = await this.stage.shadows.list();
    const updated = shadows.filter(({ status }) => status?.current_version === '1.1.0');
    return updated.length === nodes.length && (await this.#permits()).length === 0;
  }

  async #onFirstPermit(happens: (node: string) => Promise<unknown>): Promise<void> {
    const [permit] = await this.#permits();
    const name = permit && nodeNameOf(permit.shadow);
    if (name !== undefined && (await this.stage.nodes.get(name))) await happens(name);
  }

  async #deleteShadow(name: string): Promise<void> {
    if (await this.stage.shadows.get(shadowName(name))) await this.stage.shadows.delete(shadowName(name), {});
  }

  async #remove(name: string): Promise<void> {
    const node = (await this.stage.nodes.get(name))!;
    await this.stage.delete(`/api/v1/nodes/${name}`);
    await this.#end(node);
  }

  async #replace(name: string): Promise<void> {
    await this.#remove(name);
    await this.stage.join(name);
  }

  /** Its agent goes when agents move next. */
  async #unlabel(name: string): Promise<void> {
    await this.stage.patch(`/api/v1/nodes/${name}`, { metadata: { labels: { [MANAGED_LABEL]: null } } });
  }

  /** Keeps the node back, or lets it go again. */
  async #hold(name: string): Promise<void> {
    const node = (await this.stage.nodes.get(name))!;
    const annotations = { [HOLD_ANNOTATION]: isHeld(node.metadata) ? null : '' };
    await this.stage.patch(`/api/v1/nodes/${name}`, { metadata: { annotations } });
  }

  /** Pauses everything, or lets it go on. */
  async #pause(): Promise<void> {
    this.#isPaused = !this.#isPaused;
    const annotations = { [PAUSED_ANNOTATION]: this.#isPaused ? '' : null };
    await this.stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations } });
  }

  async #end({ metadata: { name, uid } }: Node): Promise<void> {
    this.#atWork.delete(uid);
    await this.stage.loseAgent(name).catch(() => undefined);
  }

  /** A process that bears the name of the first one, which may still be there. */
  async #moveTwin(): Promise<void> {
    if (!this.#hasTwin) this.#start('twin', 'first');
    this.#hasTwin = true;
    await this.scheduler.release(0, 'twin');
  }

  async #nodes(): Promise<readonly Node[]> {
    return this.stage.nodes.list();
  }

  async #permits(): Promise<readonly { readonly shadow: string; readonly nodeUid: string }[]> {
    const lease = await this.stage.leases.get(CONTROLLER_LEASE);
    return JSON.parse(lease?.metadata.annotations?.[`${GROUP}/slots`] ?? '[]') as [];
  }
}

const AT_REST = { current_version: '1.0.0', target_version: '1.1.0', current_state: 'Idle', crash_count: 0 } as const;

function isHeld({ annotations }: Node['metadata']): boolean {
  return annotations?.[HOLD_ANNOTATION] !== undefined;
}

function isManaged({ metadata }: Node): boolean {
  return metadata.labels?.[MANAGED_LABEL] !== undefined;
}
