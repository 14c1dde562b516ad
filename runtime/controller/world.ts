import { Informer } from '../kube/informer.ts';
import type { KubeObject, Node, Pod, ShadowObject } from '../kube/objects.ts';
import { NAMESPACES_PATH, NODES_PATH, podsPath, shadowsPath } from '../kube/resources.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { COMPONENT_LABEL, COMPONENTS, PAUSED_ANNOTATION } from '../shadow/names.ts';
import type { Expectations } from './expectations.ts';
import { Observations, type ObservedShadow } from './observations.ts';
import type { ShadowView, Snapshot } from './plan/snapshot.ts';
import { RefusedDrains } from './refused-drains.ts';
import { type AgentView, type NodeFacts, type ShadowFacts, viewOfAgent, viewOfNode, viewOfShadow } from './views.ts';

export interface WorldOptions {
  readonly transport: KubeTransport;
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly expectations: Expectations;
}

/** What the cluster says, of which a plan is made; slots, refusals and the schedule come from elsewhere. */
export type WorldView = Omit<Snapshot, 'slots' | 'window' | 'refusals'>;

/** The caches of everything that plans are made of. */
export class World {
  readonly #nodes: Informer<Node, NodeFacts>;
  readonly #shadows: Informer<ShadowObject, ShadowFacts>;
  readonly #agents: Informer<Pod, AgentView>;
  readonly #namespaces: Informer<KubeObject, boolean>;
  readonly #observations = new Observations();
  readonly #refusedDrains: RefusedDrains;
  readonly #expectations: Expectations;
  readonly #clock: Clock;
  #synced = false;

  constructor({ namespace, expectations, ...access }: WorldOptions) {
    this.#expectations = expectations;
    this.#clock = access.clock;
    this.#refusedDrains = new RefusedDrains(access.clock);
    this.#nodes = new Informer({ ...access, path: NODES_PATH, project: viewOfNode });
    this.#shadows = new Informer({ ...access, path: shadowsPath(namespace), project: viewOfShadow });
    const labelSelector = `${COMPONENT_LABEL}=${COMPONENTS.agent}`;
    this.#agents = new Informer({
      ...access,
      path: podsPath(namespace),
      query: { labelSelector },
      project: viewOfAgent,
    });
    const fieldSelector = `metadata.name=${namespace}`;
    this.#namespaces = new Informer({
      ...access,
      path: NAMESPACES_PATH,
      query: { fieldSelector },
      project: isPaused,
    });
  }

  /** Every cache has been filled once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Resolves when every cache has been filled. */
  async filled(): Promise<void> {
    await Promise.all([this.#nodes.synced, this.#shadows.synced, this.#agents.synced, this.#namespaces.synced]);
    this.#synced = true;
  }

  onChange(listener: () => void): () => void {
    const ends = [this.#nodes, this.#shadows, this.#agents, this.#namespaces].map((cache) => cache.onChange(listener));
    return () => ends.forEach((end) => end());
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#nodes, this.#shadows, this.#agents, this.#namespaces].map((cache) => cache.run(signal)));
  }

  /** The cluster as it is known now. */
  view(): WorldView {
    const now = this.#clock.now();
    const nodeFacts = [...this.#nodes.items().values()];
    const facts = [...this.#shadows.items().values()];
    this.#expectations.retain(facts);
    const nodes = this.#observations.nodes(nodeFacts, now);
    const shadows = this.#observations.shadows(facts, nodes, now).map((shadow) => this.#judged(shadow));
    return {
      nodes,
      shadows,
      drainRefusals: this.#refusedDrains.view({ nodes, shadows }),
      silentSince: this.#observations.silence(nodeFacts, this.#agents.items().values(), now),
      paused: [...this.#namespaces.items().values()].includes(true),
    };
  }

  #judged(shadow: ObservedShadow): ShadowView {
    return { ...shadow, stale: this.#expectations.isStale(shadow) };
  }
}

function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[PAUSED_ANNOTATION] !== undefined;
}
