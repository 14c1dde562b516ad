import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { shadowsOf } from '../../runtime/api/resources.ts';
import type { Status } from '../../runtime/api/shadow/model.ts';
import {
  API_VERSION,
  COMPONENT_LABEL,
  COMPONENTS,
  HOLD_ANNOTATION,
  KIND,
  MANAGED_LABEL,
  NAMESPACE,
  PAUSED_ANNOTATION,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import { createManager, type Manager } from '../../runtime/controller/manager.ts';
import { NAMESPACES_PATH, NODES_PATH, podsPath } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { eventually } from '../contract/eventually.ts';
import { inTime } from '../in-time.ts';
import { Client, told } from '../kube/client.ts';
import { policyCrd } from '../policy-crd.ts';
import { releaseCrd } from '../release-crd.ts';
import { shadowCrd } from '../shadow-crd.ts';
import { ApiServers } from './api-servers.ts';
import { auditOf } from './audit.ts';
import { type RealCluster, realCluster } from './cluster.ts';
import { comesTrue } from './come-true.ts';
import { History } from './history.ts';
import { kubectl } from './kubectl.ts';
import { shadowOf, verdict } from './looks.ts';
import { PaperNode } from './paper-node.ts';

/**
 * Two API servers behind load balancers, of which the second is cut off from etcd under a controller that watches there (rule L11). The controller is
 * ours, in this process; the agents are moved by hand.
 */

/** Of those that have a permit and prepare, one is asked for, and one held; another waits for its turn. */
const [ASKED, HELD, WAITING] = ['node-1', 'node-2', 'node-3'] as const;
const NODES = [ASKED, HELD, WAITING];
const STAGED = 'StagedAndPerformedUpdate';
/** The default of CACHE_TIMEOUT_IN_SEC, and what a busy machine may take besides. */
const BOUND_MS = 90_000 + 10_000;

const history = new History();
const over = new AbortController();
const running: Promise<unknown>[] = [];
let cluster: RealCluster;
let admin: Client;
let servers: ApiServers;
let manager: Manager;
/** A watch of our namespace at the second server that was open before it was cut off. */
let watched: ReturnType<Client['watch']>;
/** When the second server was cut off, monotonic. */
let cutOffAt: number;

beforeAll(async () => {
  cluster = await realCluster();
  admin = new Client(cluster.transport);
  servers = await ApiServers.start(cluster);
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const one of [shadowCrd(), releaseCrd(), policyCrd()]) await admin.create(definitions, one);
  await admin.create(NAMESPACES_PATH, { metadata: { name: NAMESPACE } });
  for (const name of NODES) await join(name);
  manager = await controller();
  running.push(history.run(cluster.transport, over.signal), manager.run(over.signal));
  await history.until((seen) => [ASKED, HELD].every((name) => shadowOf(seen, name)?.spec.state === STAGED));
  const resourceVersion = (await admin.list(NAMESPACES_PATH)).metadata.resourceVersion;
  const query = { fieldSelector: `metadata.name=${NAMESPACE}`, resourceVersion, allowWatchBookmarks: 'true' };
  watched = new Client(servers.at(servers.second)).watch(NAMESPACES_PATH, query);
  // Without an event since it was opened a watch gets no bookmark of the same moment.
  await kubectl('label', 'namespace', NAMESPACE, 'seen=yes');
  await comesTrue(() => watched.events.length > 0);
}, 120_000);

afterAll(async () => {
  watched.stop();
  over.abort(new Error('over'));
  await Promise.all(running);
  await servers.stop();
}, 30_000);

/** A machine on paper with an agent's pod, whose host is offered an update. */
async function join(name: string): Promise<void> {
  const api = { transport: cluster.transport, clock: systemClock, random: Math.random };
  await new PaperNode({ name, labels: { [MANAGED_LABEL]: '2.0.0' }, api }).boot({
    osImage: 'Bottlerocket OS 1.38.0 (aws-k8s-1.33)',
    bootID: `boot-of-${name}`,
  });
  const containers = [{ name: 'agent', image: 'agent' }];
  const labels = { [COMPONENT_LABEL]: COMPONENTS.agent };
  const pod = { metadata: { name: `agent-${name}`, labels }, spec: { nodeName: name, containers } };
  await eventually(() => admin.create(podsPath(NAMESPACE), pod));
  const { uid } = (await admin.get(`${NODES_PATH}/${name}`)).metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: uid ?? '' }];
  const metadata = { name: shadowName(name), namespace: NAMESPACE, ownerReferences };
  const shadow = { apiVersion: API_VERSION, kind: KIND, metadata, spec: { state: 'Idle' } } as const;
  await eventually(() => shadowsOf(cluster.transport, NAMESPACE).create(shadow));
  await report(name, {
    current_version: '1.38.0',
    target_version: '1.39.0',
    current_state: 'Idle',
    crash_count: 0,
  });
}

function report(name: string, status: Partial<Status>): Promise<unknown> {
  return shadowsOf(cluster.transport, NAMESPACE).patchStatus(shadowName(name), { status });
}

/** Its watch of namespaces has come to the second server, that of nodes can come to no other, and all else is at the first. */
async function controller(): Promise<Manager> {
  const { first, second } = servers;
  const [near, far, single] = await Promise.all([
    servers.behindBalancer(first, second),
    servers.behindBalancer(second, first),
    servers.behindBalancer(second),
  ]);
  const ways: Readonly<Record<string, KubeTransport>> = { [NAMESPACES_PATH]: far, [NODES_PATH]: single };
  const transport: KubeTransport = {
    request: (request) => near.request(request),
    watch: (watch) => (ways[watch.path] ?? near).watch(watch),
  };
  const env = { MY_NODE_NAME: 'none', MAX_CONCURRENT_UPDATE: '2', PROOF_NODES: '100%' };
  const config = readControllerConfig(env);
  const parts = { clock: systemClock, random: Math.random, logger: silentLogger };
  return createManager({ ...parts, transport, namespace: NAMESPACE, config, identity: 'controller' });
}

/** @throws Error where no verdict on a node that waits says so within the bound */
async function knownInTime(reason: string): Promise<void> {
  const said = history.until(() => reasonOf(WAITING) === reason);
  await inTime(`a verdict that says ${reason}`, said, cutOffAt + BOUND_MS - systemClock.monotonic());
}

const reasonOf = (name: string): string | undefined => verdict(history, name)?.reason;

const states = (...names: readonly string[]): readonly (string | undefined)[] =>
  names.map((name) => shadowOf(history, name)?.spec.state);

/** Names of the shadows that anybody has ever told to drain, by what the API server has written down. */
async function toldToDrain(): Promise<readonly string[]> {
  const written = (await auditOf(cluster)).flatMap(({ verb, objectRef, responseObject }) => {
    const { spec } = (responseObject ?? {}) as { readonly spec?: { readonly state?: string } };
    return verb === 'patch' && spec?.state === 'RebootedIntoUpdate' ? (objectRef?.name ?? '') : [];
  });
  return [...new Set(written)];
}

test('a pause said after the server of its watch was cut off is known in time, and what stages then waits', async () => {
  cutOffAt = systemClock.monotonic();
  await servers.cutOffEtcd();
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}=ann`);
  await knownInTime('Paused');
  await report(ASKED, { current_state: STAGED });
  await history.until(() => reasonOf(ASKED) === 'Paused');
  expect(states(ASKED, HELD)).toEqual([STAGED, STAGED]);
}, 150_000);

test('what cannot be watched anew counts as not current in time, though the pause is over', async () => {
  await knownInTime('NotCurrent');
  await kubectl('annotate', 'node', HELD, `${HOLD_ANNOTATION}=ann`);
  await kubectl('annotate', 'namespace', NAMESPACE, `${PAUSED_ANNOTATION}-`);
  await report(HELD, { current_state: STAGED });
  await comesTrue(() => {
    const { paused, shadows } = manager.preview().snapshot;
    const staged = shadows.filter(({ status }) => status?.current_state === STAGED);
    return !paused && staged.length === 2;
  });
  expect(verdict(history, WAITING)?.message).toContain('nodes');
  expect(await toldToDrain()).toEqual([]);
}, 150_000);

test('meanwhile a watch that was open there goes on with bookmarks of one moment, and another can be opened', async () => {
  await comesTrue(() => watched.events.length > 2);
  const since = watched.events.slice(1);
  expect(new Set(told(since))).toEqual(new Set(['BOOKMARK']));
  expect(new Set(since.map(({ object }) => object.metadata.resourceVersion)).size).toBe(1);
  expect(watched.ended).toBe(false);
  expect(servers.second.isReady).toBe(false);
  const opened = Promise.withResolvers<void>();
  const query = { resourceVersion: watched.events.at(-1)?.object.metadata.resourceVersion ?? '' };
  const ending = new AbortController();
  const watch = { path: NAMESPACES_PATH, query, signal: ending.signal, onOpen: () => opened.resolve() };
  const read = servers.at(servers.second).watch(watch)[Symbol.asyncIterator]().next();
  await opened.promise;
  ending.abort(new Error('it is open'));
  await read;
  expect(await toldToDrain()).toEqual([]);
}, 150_000);

test('once the server is back the hold is obeyed, and the other node goes on', async () => {
  servers.joinEtcd();
  await history.until(() => reasonOf(HELD) === 'Held' && states(ASKED)[0] === 'RebootedIntoUpdate');
  expect(await toldToDrain()).toEqual([shadowName(ASKED)]);
  expect(states(HELD, WAITING)).not.toContain('RebootedIntoUpdate');
}, 120_000);
