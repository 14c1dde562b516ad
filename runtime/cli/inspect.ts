import { type ControllerConfig, policyOf, settingsOf } from '../controller/config.ts';
import { statedOrders } from '../controller/k3os/host-order.ts';
import { namespacesOfOthers, othersText } from '../controller/seeing/other-operators.ts';
import { Rulers } from '../controller/seeing/rulers.ts';
import { Wellness } from '../controller/seeing/wellness.ts';
import { LedgerTimes } from '../controller/seeing/ledger-times.ts';
import { Observations } from '../controller/seeing/observations.ts';
import { conditionUpToDate } from '../controller/plan/facts/conditions.ts';
import { channelsPath, OrderedShadows } from '../controller/seeing/orders.ts';
import type { GoingBack } from '../controller/plan/answer/going-back.ts';
import { keepersOf, goingBackOf, type Plan, plan } from '../controller/plan/plan.ts';
import { Rulings } from '../controller/plan/facts/rulings.ts';
import type { Snapshot } from '../controller/plan/facts/snapshot.ts';
import type { Finding } from '../controller/plan/facts/verdict.ts';
import { PolicyViews } from '../controller/seeing/policy-views.ts';
import { permitsOn } from '../controller/permits/entries.ts';
import {
  lastWordsOf,
  pauseOf,
  type ShadowFacts,
  viewOfAgent,
  viewOfNode,
  viewOfShadow,
} from '../controller/seeing/views.ts';
import { managedBesides } from '../controller/seeing/people.ts';
import { COMMAND_KINDS } from '../controller/writing/write-limiter.ts';
import type { ChannelObject } from '../api/k3os/model.ts';
import { Collection } from '../kube/collection.ts';
import { type ReleaseResource, type ShadowObject, type UpdatePolicyObject, shadowsOf } from '../api/resources.ts';
import type { KubeObject, Lease, Node, Pod } from '../kube/objects.ts';
import { leasesOf, namespacesOf, nodesOf, podsOf } from '../kube/resources.ts';
import type { Pause } from '../api/shadow/asked.ts';
import { COMPONENTS, CONTROLLER_LEASE, nodeNameOf } from '../api/shadow/names.ts';
import { viewOfRelease } from '../controller/seeing/releases.ts';
import type { Cluster } from './command.ts';
import { deployedSettings } from './deployed-settings.ts';
import { snapshotOfLeader } from './leader-plan.ts';
import { type NoLeader, noLeaderIn, whyNobodyLeads, withoutPermit } from './leader.ts';
import { ifAllowed, type Read, readPolicies, readReleases, selecting } from './reading.ts';

/** The cluster at one moment, and the controller's plan for it. */
export interface Inspection {
  readonly snapshot: Snapshot;
  readonly plan: Plan;
  /** Everything that keeps a node from the update that it is offered, the verdict's reason first. It takes half a plan: ask once for all nodes. */
  readonly keepers: () => (node: string) => readonly Finding[];
  /** The nodes that are to leave what they run, if releases were these. */
  readonly goingBack: (releases: Snapshot['releases']) => readonly GoingBack[];
  readonly config: ControllerConfig;
  /** Undefined where a controller leads, or that is not known. */
  readonly noLeader: NoLeader | undefined;
  /** False where the user may not read the Lease, which has the permits. */
  readonly permitsKnown: boolean;
  /** The policies at another moment. Only their windows change with time. */
  readonly policiesAt: (now: number) => Snapshot['policies'];
  /** Facts that are not known, each with what is assumed instead: settings that stand elsewhere, and objects that the user may not read. */
  readonly unknown: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Policies and settings to assume instead of those in the cluster. */
export interface Overrides {
  /** Each replaces the policy of the same name, or is added. */
  readonly policies: readonly UpdatePolicyObject[];
  /** Variables of the controller by name. */
  readonly settings: Readonly<Record<string, string>>;
}

const NO_OVERRIDES: Assumed = { policies: [], settings: {} };

interface Assumed extends Overrides {
  /** The leader was asked in vain just now. @default it is asked */
  readonly isSilent?: boolean;
}

/**
 * Plans as the controller does, with the settings of its Deployment, on what the leader plans on. Where it does not say that, on the cluster
 * as it is now, and on guesses of what only a controller remembers: the user must then be allowed to list nodes and shadows. It writes nothing.
 * @throws UnknownSettingsError, and as `KubeTransport.request`
 */
export async function inspect(cluster: Cluster, now: number, overrides: Assumed = NO_OVERRIDES): Promise<Inspection> {
  const known = overrides.isSilent ? undefined : await snapshotOfLeader(cluster);
  const [{ config, unknown }, read] = await Promise.all([
    deployedSettings(cluster, overrides.settings),
    readObjects(cluster, known !== undefined),
  ]);
  const policies = { ...read.policies, value: withOverrides(read.policies.value, overrides.policies) };
  const objects = { ...read, policies, channels: await readChannels(cluster, config) };
  const orders = channelOrders(objects.channels, config);
  const views = new PolicyViews(config);
  const policiesAt = (at: number) => views.at(policies.value, at, orders?.policies());
  const snapshot = known
    ? { ...known, policies: policiesAt(now) }
    : snapshotOf(objects, { config, orders, policies: policiesAt(now) }, now);
  const made = [snapshot, { ...settingsOf(config), conditionWrites: 0 }, { now, memory: {} }] as const;
  const planned = plan(...made);
  const assumed = [...unknown, ...refusedReads(objects, objects.channels)];
  const { lease } = objects;
  const noLeader = noLeaderIn(lease, snapshot, now);
  return {
    snapshot,
    keepers: () => keepersOf(...made),
    goingBack: (releases) => goingBackOf({ ...snapshot, releases }, made[1], made[2]),
    config,
    policiesAt,
    plan: lease.refused === undefined ? asPermitted(planned, snapshot) : planned,
    noLeader: noLeader && { ...noLeader, why: await whyNobodyLeads(cluster, noLeader) },
    permitsKnown: lease.refused === undefined,
    unknown: assumed,
    now,
  };
}

/** The plan with the verdicts as they are until somebody carries it out. */
function asPermitted(planned: Plan, { nodes, permits }: Snapshot): Plan {
  const uids = new Map(nodes.map(({ name, uid }) => [name, uid]));
  const verdicts = planned.verdicts.map((verdict) => withoutPermit(verdict, permits, uids.get(verdict.node)));
  return Object.assign({}, planned, { verdicts });
}

/** A policy that is replaced keeps its status, because the status holds what is known of releases. */
function withOverrides(policies: readonly UpdatePolicyObject[], by: readonly UpdatePolicyObject[]) {
  const before = new Map(policies.map((policy) => [policy.metadata.name, policy]));
  const after = by.map((policy) => Object.assign({}, policy, before.get(policy.metadata.name), { spec: policy.spec }));
  const names = new Set(by.map(({ metadata }) => metadata.name));
  return [...policies.filter(({ metadata }) => !names.has(metadata.name)), ...after];
}

/** Undefined where the operator does not update k3OS nodes. */
type Channels = Read<readonly ChannelObject[]> | undefined;

async function readChannels(
  { transport }: Cluster,
  { K3OS_NAMESPACE: namespace }: ControllerConfig,
): Promise<Channels> {
  if (namespace === '') return undefined;
  const channels = new Collection<KubeObject & ChannelObject>(transport, channelsPath(namespace));
  return ifAllowed(channels.list(), []);
}

/** The objects that a plan reads. */
interface ClusterObjects {
  readonly nodes: readonly Node[];
  readonly shadows: readonly ShadowObject[];
  readonly policies: Read<readonly UpdatePolicyObject[]>;
  readonly releases: Read<readonly ReleaseResource[]>;
  readonly agents: Read<readonly Pod[]>;
  readonly lease: Read<Lease | undefined>;
  readonly pause: Read<Pause>;
  /** Other namespaces that have shadows. */
  readonly others: Read<readonly string[]>;
}

/** @param known whether the leader has said what only plans need; the Lease still says whether it lives */
async function readObjects({ transport, namespace }: Cluster, known: boolean): Promise<ClusterObjects> {
  const unless = <T, O>(read: () => Promise<T>, otherwise: O) =>
    known ? { value: otherwise, refused: undefined } : ifAllowed(read(), otherwise);
  const [policies, releases, nodes, shadows, agents, lease, home, others] = await Promise.all([
    ifAllowed(readPolicies(transport), []),
    unless(() => readReleases(transport), []),
    known ? [] : nodesOf(transport).list(),
    known ? [] : shadowsOf(transport, namespace).list(),
    unless(() => podsOf(transport, namespace).list(selecting(COMPONENTS.agent)), []),
    ifAllowed(leasesOf(transport, namespace).get(CONTROLLER_LEASE), undefined),
    unless(() => namespacesOf(transport).get(namespace), undefined),
    unless(() => namespacesOfOthers({ transport, namespace }), []),
  ]);
  const pause = { ...home, value: home.value ? pauseOf(home.value) : { paused: false } };
  return { policies, releases, nodes, shadows, agents, lease, pause, others };
}

function refusedReads(
  { policies, releases, agents, lease, pause, others }: ClusterObjects,
  channels: Channels,
): readonly string[] {
  const said = [
    [channels ?? NOT_ASKED, 'update channels, which you may not list', 'no k3OS node is assumed to start'],
    [policies, 'update policies, which you may not list', 'none are assumed'],
    [releases, 'releases, which you may not list', 'none is assumed to have failed, and nothing starts'],
    [agents, 'which agents run, since you may not list pods', 'all are assumed to'],
    [lease, 'who has a permit, since you may not read the Lease', 'what the shadows show is assumed'],
    [pause, 'whether the fleet is paused, since you may not read the namespace', 'it is assumed not to be'],
    [others, 'shadows in other namespaces, which you may not list', 'there is assumed to be no other operator'],
  ] as const;
  return said.flatMap(([{ refused }, what, instead]) =>
    refused === undefined ? [] : [`${what} (${refused}): ${instead}`],
  );
}

const NOT_ASKED: Read<undefined> = { value: undefined, refused: undefined };

function channelOrders(channels: Channels, config: ControllerConfig) {
  if (!channels) return undefined;
  const unread = channels.refused === undefined ? undefined : 'the channels may not be read';
  return statedOrders(channels.value, { unread, variables: policyOf(config) });
}

interface PlanRules {
  readonly config: ControllerConfig;
  readonly orders: ReturnType<typeof channelOrders>;
  readonly policies: Snapshot['policies'];
}

/** @param now milliseconds since the Unix epoch */
function snapshotOf(
  { nodes, shadows, agents, lease, pause, releases, others }: ClusterObjects,
  { config, orders, policies }: PlanRules,
  now: number,
): Snapshot {
  const moment = { now, monotonic: now };
  const observations = new Observations();
  const manages = managedBesides(config, orders);
  const nodeFacts = nodes.map((node) => viewOfNode(node, undefined, manages));
  const read = shadows.map(viewOfShadow);
  const facts = orders ? new OrderedShadows(orders).of(read, nodeFacts) : read;
  // This process has observed nothing before, so the Ready condition's own transition time is used.
  const nodeViews = observations
    .nodes(nodeFacts, now)
    .map((node) => Object.assign(node, { readinessSeenAt: node.readyChangedAt }));
  const ruled = { nodes: nodeViews, policies, claims: new Rulings({ policies }).claims };
  const agentViews = agents.value.map(viewOfAgent);
  const silence = observations.silence(nodeFacts, agentViews, now);
  return {
    nodes: new Wellness().see(ruled, moment),
    shadows: observations.shadows(facts, nodeViews, now),
    permits: permitsOn(lease.value),
    ruledSince: new Rulers().see(ruled, moment),
    silentSince: knownSilence(agents.refused === undefined ? silence : undefined, facts),
    lastWords: lastWordsOf(agentViews),
    ...pause.value,
    policies,
    notCurrent: knownNotCurrent(facts),
    otherOperators: config.OTHER_OPERATORS === 'ignore' ? undefined : othersText(others.value),
    refusals: knownRefusals(facts),
    // Only the controller remembers these. The conditions show their effect.
    drainRefusals: new Map(),
    releases: {
      objects: new LedgerTimes().see(releases.value.map(viewOfRelease), moment),
      refused: new Map(),
      seeds: false,
    },
  };
}

/**
 * No object says since when an agent is silent. But the condition says so once it is silent for too long.
 * @param since when this process saw each agent go; undefined where the user may not list pods, so that only the conditions tell
 */
function knownSilence(
  since: ReadonlyMap<string, number> | undefined,
  facts: readonly ShadowFacts[],
): ReadonlyMap<string, number> {
  const silent = facts
    .filter(({ status }) => conditionUpToDate(status)?.reason === 'AgentSilent')
    .map(({ name }) => nodeNameOf(name) ?? name);
  const known = new Map(since);
  for (const name of silent) if (!since || since.has(name)) known.set(name, 0);
  return known;
}

/** Refused writes are in the controller's memory. The condition says for which nodes a write was refused, and why. */
function knownRefusals(facts: readonly ShadowFacts[]): Snapshot['refusals'] {
  return new Map(
    facts.flatMap(({ name, status }) => {
      const said = conditionUpToDate(status);
      if (said?.reason !== 'WriteRefused') return [];
      return [[name, COMMAND_KINDS.map((kind) => ({ kind, message: said.message, retryAt: Infinity }))] as const];
    }),
  );
}

/** The controller may not know what the user can read, e.g. where its role is of an older version. The conditions say so, and nothing starts. */
function knownNotCurrent(facts: readonly ShadowFacts[]): string | undefined {
  return facts.map(({ status }) => conditionUpToDate(status)).find((said) => said?.reason === 'NotCurrent')?.message;
}
