import { Collection, type Selectors } from '../../kube/collection.ts';
import { isServed } from '../../kube/discovery.ts';
import { ApiStatusError } from '../../kube/errors.ts';
import type { KubeObject, UpdatePolicyObject } from '../../kube/objects.ts';
import { leasesOf, namespacesOf, nodesOf, podsOf, policiesOf, shadowsOf } from '../../kube/resources.ts';
import { collectionPath } from '../../kube/paths.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { instantOf } from '../../lib/clock.ts';
import { POLICY_VERSION } from '../../policy/names.ts';
import {
  COMPONENT_LABEL,
  COMPONENTS,
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  GROUP,
  nodeNameOf,
  PAUSED_ANNOTATION,
} from '../../shadow/names.ts';
import { type ControllerConfig, readControllerConfig, settingsOf } from '../config.ts';
import { Observations, type ObservedShadow } from '../observations.ts';
import { upToDate } from '../plan/conditions.ts';
import { type Plan, plan } from '../plan/plan.ts';
import type { ShadowView, Snapshot } from '../plan/snapshot.ts';
import { isUnread } from '../policies.ts';
import { PolicyViews } from '../policy-views.ts';
import { COMMAND_KINDS } from '../write-refusals.ts';
import { slotsOn } from '../slots/entries.ts';
import { type ShadowFacts, viewOfAgent, viewOfNode, viewOfShadow } from '../views.ts';

export interface Inspection {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  /** Why the policies cannot be read with the rights at hand, in the API server's words; undefined where they can. */
  readonly policiesRefused: string | undefined;
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
  const [{ config, unread }, policies, nodes, shadows, agents, lease, home] = await Promise.all([
    configOf(cluster),
    policiesIn(transport),
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
  const ledSince = instantOf(lease?.spec?.acquireTime);
  const snapshot: Snapshot = {
    nodes: nodeViews,
    shadows: observations.shadows(facts, nodeViews, now).map((shadow) => asStated(shadow, ledSince)),
    slots: slotsOn(lease),
    silentSince: knownSilence(silence, facts),
    paused: home?.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined,
    policies: new PolicyViews(config).at(policies.items, now),
    policiesUnread: knownUnread(facts),
    refusals: knownRefusals(facts),
    // Only the controller knows them. What follows from them is in the conditions.
    drainRefusals: new Map(),
  };
  const planned = plan(snapshot, { ...settingsOf(config), conditionWrites: 0 }, now);
  return { snapshot, unread, policiesRefused: policies.refused, plan: planned, now };
}

interface PoliciesRead {
  readonly items: readonly UpdatePolicyObject[];
  readonly refused: string | undefined;
}

/** People who may see nodes may not always see policies. */
async function policiesIn(transport: KubeTransport): Promise<PoliciesRead> {
  try {
    return { items: await policiesOf(transport).list(), refused: undefined };
  } catch (error) {
    if (!(error instanceof ApiStatusError)) throw error;
    const { code, message } = error.status;
    if (code === 403) return { items: [], refused: message ?? 'Forbidden' };
    const isAbsent = code === 404 && !(await isServed(transport, { group: GROUP, version: POLICY_VERSION }));
    if (isAbsent) return { items: [], refused: undefined };
    throw error;
  }
}

/**
 * This process has seen no update end, so it goes by what the cluster says of that. A controller counts a pause from its own beginning, which
 * was when it took the Lease at the latest.
 */
function asStated(shadow: ObservedShadow, ledSince: number | undefined): ShadowView {
  const { endedAt, finishedAt = -Infinity, failedAt = -Infinity } = shadow;
  const known = Math.max(finishedAt, failedAt, ledSince ?? -Infinity);
  return Object.assign(shadow, { stale: false, endedAt: endedAt === undefined ? undefined : known });
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

/** The controller's role may be older than its policies, which others can read. Where it cannot, the conditions say so, and nothing starts. */
function knownUnread(facts: readonly ShadowFacts[]): string | undefined {
  return facts.map(({ status }) => upToDate(status)).find((said) => said && isUnread(said))?.message;
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
