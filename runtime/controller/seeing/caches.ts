import { SMALL_PAGE_SIZE } from '../../kube/collection.ts';
import type { Informer } from '../../kube/informer.ts';
import { type ShadowObject, shadowsPath } from '../../api/resources.ts';
import type { KubeObject, Node, Pod } from '../../kube/objects.ts';
import { NAMESPACES_PATH, NODES_PATH, podsPath } from '../../kube/resources.ts';
import type { ClusterConnection } from '../../kube/in-cluster.ts';
import { type Clock, type Moment, momentOf } from '../../lib/clock.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { Pause } from '../../api/shadow/asked.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../api/shadow/names.ts';
import type { Expectations } from './expectations.ts';
import type { CacheOptions } from './freshness.ts';
import { Observations, type ObservedShadow } from './observations.ts';
import { OrderedShadows, type Orders } from './orders.ts';
import type { PermitView } from '../plan/facts/permit.ts';
import type { NodeView, ShadowView, Snapshot } from '../plan/facts/snapshot.ts';
import type { IsManaged } from './people.ts';
import { DrainRefusals } from '../writing/drain-refusals.ts';
import {
  type AgentView,
  type NodeFacts,
  type ShadowFacts,
  SharedTexts,
  lastWordsOf,
  pauseOf,
  viewOfAgent,
  viewOfNode,
  viewOfShadow,
} from './views.ts';

interface CachesOptions extends CacheOptions, ClusterConnection {
  readonly expectations: Expectations;
  /** @default every host offers versions by itself */
  readonly orders?: Pick<Orders, 'manages' | 'order' | 'onChange'> | undefined;
  /** @default none but those with Bottlerocket's API */
  readonly manages?: IsManaged;
}

type Changed = 'nodes' | 'shadows' | 'agents';

/** The part of a snapshot that the caches show. */
export type ClusterView = Omit<
  Snapshot,
  'policies' | 'releases' | 'ruledSince' | 'checks' | 'otherOperators' | 'controlPlaneAway' | 'notCurrent' | 'refusals'
>;

/** A node with what belongs to it, as the API server has just given it; undefined what is not there. */
export interface LiveNode {
  readonly name: string;
  readonly shadowName: string;
  readonly node: Node | undefined;
  readonly shadow: ShadowObject | undefined;
  readonly agents: readonly AgentView[];
}

/** How often changes are observed where no plans are made, as in a stand-by, milliseconds. The cost of an observation grows with the fleet. */
const OBSERVED_EACH_MS = 1000;

/** Nodes are the largest of what is read. A page that is being parsed while V8 collects what is young counts as old from then on, and stays for long. */
const NODE_PAGE_SIZE = 15;

/** More than there can be permits. */
const KEPT_DELETED = 1000;

/** Informers for everything that plans are made of. It also knows since when each thing has been in its state. */
export class Caches {
  /** Resolves when every cache has been filled. */
  readonly synced: Promise<void>;
  readonly #nodes: Informer<Node, NodeFacts>;
  readonly #shadows: Informer<ShadowObject, ShadowFacts>;
  readonly #agents: Informer<Pod, AgentView>;
  readonly #namespaces: Informer<KubeObject, Pause>;
  readonly #observations = new Observations();
  readonly #refusedDrains = new DrainRefusals();
  readonly #ordered: OrderedShadows | undefined;
  readonly #expectations: Expectations;
  readonly #clock: Clock;
  readonly #viewOfNode: (node: Node) => NodeFacts;
  #seenNodes: readonly NodeView[] = [];
  #seenShadows: readonly ObservedShadow[] = [];
  #silentSince: Snapshot['silentSince'] = new Map();
  #lastWords: ReadonlyMap<string, string> = new Map();
  /** What has changed since the last observation. */
  readonly #changed = new Set<Changed>();
  readonly #wakeup = new Wakeup();
  #ready = false;

  constructor({ namespace, expectations, freshness, orders, manages, ...ports }: CachesOptions) {
    const access = { ...ports, pageSize: SMALL_PAGE_SIZE };
    this.#expectations = expectations;
    this.#ordered = orders && new OrderedShadows(orders);
    orders?.onChange(() => this.#noteChange('shadows'));
    this.#clock = ports.clock;
    const texts = new SharedTexts();
    this.#viewOfNode = (node) => viewOfNode(node, texts, manages);
    const nodes = {
      ...access,
      pageSize: NODE_PAGE_SIZE,
      path: NODES_PATH,
      project: this.#viewOfNode,
      keepsDeleted: KEPT_DELETED,
    };
    this.#nodes = freshness.informer('nodes', nodes);
    const onListed = (askedAt: number): void => expectations.listed(askedAt);
    const shown = { project: viewOfShadow, keepsDeleted: KEPT_DELETED, onListed };
    const shadows = { ...access, path: shadowsPath(namespace), ...shown };
    this.#shadows = freshness.informer('shadows', shadows);
    const labelSelector = `${COMPONENT_LABEL}=${COMPONENTS.agent}`;
    this.#agents = freshness.informer("agents' pods", {
      ...access,
      path: podsPath(namespace),
      query: { labelSelector },
      project: viewOfAgent,
    });
    const fieldSelector = `metadata.name=${namespace}`;
    const own = { ...access, path: NAMESPACES_PATH, query: { fieldSelector }, project: pauseOf };
    this.#namespaces = freshness.informer('namespaces', own);
    this.synced = Promise.all(this.#informers.map(({ synced }) => synced)).then(() => this.#begin());
  }

  /** Every cache has been filled once. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Calls `listener` after each change. Returns what ends that. */
  onChange(listener: () => void): () => void {
    const ends = this.#informers.map((informer) => informer.onChange(listener));
    return () => ends.forEach((end) => end());
  }

  /** Fills the caches and keeps them true until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.map((informer) => informer.run(signal)), this.#keepObserving(signal)]);
  }

  /**
   * Observes what has changed, and returns the cluster as it is known now. Each change counts as first seen at this moment, and not up to a second
   * later, when it would be observed anyway. An older view would not fit the permits and expectations of this moment.
   * @param permits as the Lease states them
   */
  look(moment: Moment, permits: readonly PermitView[]): ClusterView {
    this.#observe(moment);
    return {
      permits: this.#observations.permits(permits, moment.now),
      nodes: this.#seenNodes,
      shadows: this.#seenShadows.map((shadow) => this.#judged(shadow)),
      deletedShadows: this.#shadows.deleted,
      deletedNodes: this.#nodes.deleted,
      drainRefusals: this.#refusedDrains.view(moment),
      silentSince: this.#silentSince,
      lastWords: this.#lastWords,
      ...([...this.#namespaces.items().values()].find(({ paused }) => paused) ?? NOT_PAUSED),
    };
  }

  /** The view with what was read since laid over it. The caches and what they remember stay as they are. */
  laidOver(view: ClusterView, live: readonly LiveNode[], now: number): ClusterView {
    const silentSince = new Map(view.silentSince);
    const nodes = new Map<string, NodeView | undefined>();
    const shadows = new Map<string, ShadowView | undefined>();
    for (const { name, shadowName, node, shadow, agents } of live) {
      const seen = node && this.#beside(this.#viewOfNode(node), shadow && viewOfShadow(shadow), now);
      nodes.set(name, seen?.node);
      shadows.set(shadowName, seen?.shadow && this.#judged(seen.shadow));
      if (agents.some(({ running }) => running)) silentSince.delete(name);
      else if (node && !silentSince.has(name)) silentSince.set(name, now);
    }
    return {
      ...view,
      nodes: view.nodes.flatMap((one) => (nodes.has(one.name) ? (nodes.get(one.name) ?? []) : one)),
      shadows: view.shadows.flatMap((one) => (shadows.has(one.name) ? (shadows.get(one.name) ?? []) : one)),
      silentSince,
    };
  }

  #beside(node: NodeFacts, shadow: ShadowFacts | undefined, now: number): ReturnType<Observations['beside']> {
    const [ordered = shadow] = (shadow && this.#ordered?.of([shadow], [node])) ?? [];
    return this.#observations.beside(node, ordered, now);
  }

  /** An unchanged shadow is the same object as before: others remember what they made of it. */
  #judged(shadow: ObservedShadow): ShadowView {
    return this.#expectations.isStale(shadow) ? { ...shadow, stale: true } : shadow;
  }

  get #informers() {
    return [this.#nodes, this.#shadows, this.#agents, this.#namespaces] as const;
  }

  /** Called once all caches are full: in a cluster that is known only in part, running agents would seem to be missing. */
  #begin(): void {
    this.#ready = true;
    this.#noteChange('nodes');
    this.#nodes.onChange(() => this.#noteChange('nodes'));
    this.#shadows.onChange(() => this.#noteChange('shadows'));
    this.#agents.onChange(() => this.#noteChange('agents'));
  }

  #noteChange(what: Changed): void {
    this.#changed.add(what);
    this.#wakeup.ring();
  }

  async #keepObserving(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#wakeup.wait(this.#clock, Infinity, signal);
      this.#observe(momentOf(this.#clock));
      await this.#clock.sleep(OBSERVED_EACH_MS, signal).catch(() => undefined);
    }
  }

  /** Where the clock was set, everything has changed. */
  #takeChanged(moment: Moment): ReadonlySet<Changed> {
    if (this.#ready && this.#observations.follow(moment)) this.#changed.add('nodes');
    const changed = new Set(this.#changed);
    this.#changed.clear();
    return changed;
  }

  /** Handles all changes since the last time together: a new release, or an outage, changes thousands of objects within seconds. */
  #observe(moment: Moment): void {
    const changed = this.#takeChanged(moment);
    if (changed.size === 0) return;
    const { now } = moment;
    if (changed.has('nodes')) this.#seenNodes = this.#observations.nodes([...this.#nodes.items().values()], now);
    if (changed.has('nodes') || changed.has('shadows')) this.#observeShadows(moment);
    if (changed.has('nodes') || changed.has('agents')) {
      const agents = [...this.#agents.items().values()];
      this.#silentSince = this.#observations.silence(this.#seenNodes, agents, now);
      this.#lastWords = lastWordsOf(agents);
    }
  }

  #observeShadows({ now, monotonic }: Moment): void {
    const read = [...this.#shadows.items().values()];
    const facts = this.#ordered?.of(read, this.#seenNodes) ?? read;
    this.#seenShadows = this.#observations.shadows(facts, this.#seenNodes, now);
    this.#refusedDrains.observe(this.#seenNodes, this.#seenShadows, monotonic);
  }
}

const NOT_PAUSED: Pause = { paused: false };
