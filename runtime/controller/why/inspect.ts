import { Collection, type Selectors } from '../../kube/collection.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { leasesOf, namespacesOf, nodesOf, podsOf, shadowsOf } from '../../kube/resources.ts';
import { collectionPath } from '../../kube/paths.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import {
  COMPONENT_LABEL,
  COMPONENTS,
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  nodeNameOf,
  PAUSED_ANNOTATION,
} from '../../shadow/names.ts';
import { type ControllerConfig, policyOf, readControllerConfig, scheduleOf, settingsOf } from '../config.ts';
import { Observations } from '../observations.ts';
import { upToDate } from '../plan/conditions.ts';
import { type Plan, plan } from '../plan/plan.ts';
import type { Snapshot } from '../plan/snapshot.ts';
import { COMMAND_KINDS } from '../write-refusals.ts';
import { slotsOn } from '../slots/entries.ts';
import { type ShadowFacts, viewOfAgent, viewOfNode, viewOfShadow } from '../views.ts';

export interface Inspection {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  /** Settings of the controller that are written elsewhere than in its Deployment. */
  readonly unread: readonly Unread[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** A setting that is not read, because people who may see a Deployment may not always see what it refers to. */
interface Unread {
  /** e.g. `ConfigMap settings`. */
  readonly source: string;
  /** Undefined = any that is not named. */
  readonly variable: string | undefined;
}

/** Nobody can say what the controller would do, because its settings cannot be found or read. */
export class UnknownPolicyError extends Error {
  override readonly name = 'UnknownPolicyError';
}

export interface Cluster {
  readonly transport: KubeTransport;
  /** The operator's own. */
  readonly namespace: string;
}

/**
 * Plans as the controller does, on the cluster as it is now and by the settings of the controller's Deployment. Nothing is written, and no
 * controller need run. @throws UnknownPolicyError, and as `KubeTransport.request`
 */
export async function inspect(cluster: Cluster, now: number): Promise<Inspection> {
  const { transport, namespace } = cluster;
  const [{ config, unread }, nodes, shadows, agents, lease, home] = await Promise.all([
    configOf(cluster),
    nodesOf(transport).list(),
    shadowsOf(transport, namespace).list(),
    podsOf(transport, namespace).list(selecting(COMPONENTS.agent)),
    leasesOf(transport, namespace).get(CONTROLLER_LEASE),
    namespacesOf(transport).get(namespace),
  ]);
  const observations = new Observations();
  const facts = shadows.map(viewOfShadow);
  const nodeFacts = nodes.map((node) => viewOfNode(node));
  // This process has seen nothing before, so it believes what the cluster says of since when a node is Ready.
  const nodeViews = observations
    .nodes(nodeFacts, now)
    .map((node) => Object.assign(node, { readinessSeenAt: node.readyChangedAt }));
  const silence = observations.silence(nodeFacts, agents.map(viewOfAgent), now);
  const snapshot: Snapshot = {
    nodes: nodeViews,
    shadows: observations.shadows(facts, nodeViews, now).map((shadow) => Object.assign(shadow, { stale: false })),
    slots: slotsOn(lease),
    silentSince: knownSilence(silence, facts),
    paused: home?.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined,
    policies: [{ kind: 'valid', policy: policyOf(config), window: scheduleOf(config).at(now), resource: undefined }],
    policiesUnread: undefined,
    refusals: knownRefusals(facts),
    // Only the controller knows them. What follows from them is in the conditions.
    drainRefusals: new Map(),
  };
  return { snapshot, unread, plan: plan(snapshot, { ...settingsOf(config), conditionWrites: 0 }, now), now };
}

function selecting(component: string): Selectors {
  return { labelSelector: `${COMPONENT_LABEL}=${component}` };
}

/** Since when an agent is gone is not written anywhere. Where it is too long, the condition says so. */
function knownSilence(since: ReadonlyMap<string, number>, facts: readonly ShadowFacts[]): ReadonlyMap<string, number> {
  const silent = new Set(
    facts
      .filter(({ status }) => upToDate(status)?.reason === 'AgentSilent')
      .map(({ name }) => nodeNameOf(name) ?? name),
  );
  return new Map([...since].map(([name, at]) => [name, silent.has(name) ? 0 : at]));
}

/** What the API server has refused the controller is not written anywhere either. The condition says for which nodes, and with which answer. */
function knownRefusals(facts: readonly ShadowFacts[]): Snapshot['refusals'] {
  return new Map(
    facts.flatMap(({ name, status }) => {
      const said = upToDate(status);
      if (said?.reason !== 'WriteRefused') return [];
      return [[name, COMMAND_KINDS.map((kind) => ({ kind, message: said.message, retryAt: Infinity }))] as const];
    }),
  );
}

type Reference = { readonly name?: string } | undefined;

interface Container {
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly configMapKeyRef?: Reference; readonly secretKeyRef?: Reference };
  }[];
  readonly envFrom?: readonly { readonly configMapRef?: Reference; readonly secretRef?: Reference }[];
}

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly Container[];
      };
    };
  };
}

interface DeployedSettings {
  readonly config: ControllerConfig;
  readonly unread: readonly Unread[];
}

async function configOf(cluster: Cluster): Promise<DeployedSettings> {
  const { transport, namespace } = cluster;
  const path = collectionPath({ group: 'apps', version: 'v1', plural: 'deployments', namespace });
  const deployments = new Collection<Deployment>(transport, path);
  const [deployment, [pod]] = await Promise.all([
    deployments.get(CONTROLLER_DEPLOYMENT),
    podsOf(transport, namespace).list(selecting(COMPONENTS.controller)),
  ]);
  if (!deployment) throw new UnknownPolicyError(`namespace ${namespace} has no Deployment ${CONTROLLER_DEPLOYMENT}`);
  const [container = {}] = deployment.spec?.template?.spec?.containers ?? [];
  const config = readControllerConfig({ ...literalsOf(container), MY_NODE_NAME: pod?.spec?.nodeName ?? 'none' });
  return { config, unread: unreadOf(container) };
}

/** Only values that stand in the Deployment. */
function literalsOf({ env = [] }: Container): Record<string, string | undefined> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

function unreadOf({ env = [], envFrom = [] }: Container): readonly Unread[] {
  const named = env.flatMap(({ name, valueFrom }) => {
    const source = sourceOf(valueFrom?.configMapKeyRef, valueFrom?.secretKeyRef);
    return source === undefined ? [] : [{ source, variable: name }];
  });
  const whole = envFrom.flatMap(({ configMapRef, secretRef }) => sourceOf(configMapRef, secretRef) ?? []);
  return [...named, ...whole.map((source) => ({ source, variable: undefined }))];
}

function sourceOf(configMap: Reference, secret: Reference): string | undefined {
  if (configMap) return `ConfigMap ${configMap.name}`;
  return secret && `Secret ${secret.name}`;
}
