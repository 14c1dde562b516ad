import type { Server } from 'node:https';
import { nodeFields } from './node-fields.ts';
import { shadowsOf } from '../api/resources.ts';
import { nodesOf, podsOf } from '../kube/resources.ts';
import { type EventRecorder, eventRecorder } from '../kube/event-recorder.ts';
import { evictionPort } from '../kube/evictions.ts';
import { tokenReviewPort } from '../kube/reviews.ts';
import type { ClusterConnection } from '../kube/in-cluster.ts';
import { serverTime } from '../kube/server-clock.ts';
import { volumePort } from '../kube/volumes.ts';
import type { Basics } from '../lib/basics.ts';
import { MINUTE_MS } from '../lib/clock.ts';
import { EVENT_REPORTERS } from '../api/shadow/names.ts';
import { Authenticator } from './auth/authenticator.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import { ExpiringCache } from '../lib/expiring-cache.ts';
import type { ApiserverConfig } from './config.ts';
import type { DrainSettings } from '../drain/drain.ts';
import { createApp } from './http/app.ts';
import { RefusalLog } from './http/refusal-log.ts';
import { ConnectionGuard, type Handle } from './http/connections.ts';
import { Metrics } from './metrics.ts';
import { pagesInTurn } from './pages.ts';
import type { NodeEvents, Ports } from './ports.ts';
import { recentShadows } from './recent-shadows.ts';
import { createService, type Service } from './service.ts';

interface ApiserverOptions extends Basics, ClusterConnection {
  readonly config: Pick<
    ApiserverConfig,
    | 'DRAIN_TIMEOUT_MS'
    | 'DRAIN_PREFLIGHT'
    | 'DRAIN_REFUSAL_TIMEOUT_MS'
    | 'MAX_CONCURRENT_EVICTIONS'
    | 'VOLUME_DETACH_TIMEOUT_MS'
    | 'SKIP_WAIT_FOR_DELETE_TIMEOUT_MS'
    | 'REQUIRE_CLIENT_CERTIFICATE'
  >;
  /** Name of this replica, for Events. */
  readonly instance: string;
}

/** Everything of an apiserver but its sockets. */
export interface Apiserver {
  /** What it does for agents; a simulation may call it in place of HTTP. */
  readonly service: Service;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  /** The HTTP API, for a server of node:http or node:https. */
  readonly handle: Handle;
  /** Refuses what comes to that server and is no request, e.g. a TLS handshake that fails, or a connection above the limit. */
  readonly guard: (server: Server, maxConnections: number) => void;
}

/** A release is offered to all nodes of a fleet within minutes, and several have prepared it at once. What was read for the one is too old for the other. */
const BUDGETS_MS = 10_000;
/** Nodes whose drains wait for room. */
const MOST_LOOKS = 1000;

/** Wires an apiserver together. Nothing runs before the first request. */
export function createApiserver(options: ApiserverOptions): Apiserver {
  const { namespace, config, instance, random, logger } = options;
  const { transport, clock } = serverTime(pagesInTurn(options.transport), options.clock);
  const metrics = new Metrics();
  const ports: Ports = {
    transport,
    nodes: cutNodes(nodesOf(transport)),
    shadows: recentShadows(shadowsOf(transport, namespace), clock),
    evictions: evictionPort(transport),
    volumes: volumePort(transport),
    webhooks: new ExpiringCache({ clock, random, ttlMs: 10 * MINUTE_MS, maxEntries: 1 }),
    budgets: new ExpiringCache({ clock, random, ttlMs: BUDGETS_MS, maxEntries: 1 }),
    looks: new BoundedMap(MOST_LOOKS),
    events: nodeEvents(eventRecorder(transport, { component: EVENT_REPORTERS.apiserver, instance, clock, logger })),
    metrics,
    clock,
    random,
    logger,
    namespace,
  };
  const service = createService(ports, drainSettings(config));
  const agents = { reviews: tokenReviewPort(transport), pods: podsOf(transport, namespace) };
  const authenticator = new Authenticator({ ...ports, ...agents });
  const requireCertificate = config.REQUIRE_CLIENT_CERTIFICATE;
  const refusals = new RefusalLog({ metrics, clock, logger });
  const connections = new ConnectionGuard(refusals);
  const app = createApp({ service, authenticator, requireCertificate, metrics, refusals, clock, random });
  return {
    service,
    authenticator,
    metrics,
    handle: connections.inTurn(app.callback()),
    guard: (server, maxConnections) => connections.watch(server, maxConnections),
  };
}

const drainSettings = (config: ApiserverOptions['config']): DrainSettings => ({
  timeoutMs: config.DRAIN_TIMEOUT_MS,
  preflight: config.DRAIN_PREFLIGHT,
  refuseMs: config.DRAIN_REFUSAL_TIMEOUT_MS,
  maxInFlight: config.MAX_CONCURRENT_EVICTIONS,
  volumesMs: config.VOLUME_DETACH_TIMEOUT_MS,
  skipWaitMs: config.SKIP_WAIT_FOR_DELETE_TIMEOUT_MS,
});

/** A Node is held while its drain lasts. */
function cutNodes(nodes: Ports['nodes']): Ports['nodes'] {
  return {
    async get(name, signal) {
      const node = await nodes.get(name, signal);
      return node && nodeFields(node);
    },
    patch: async (name, patch, signal) => nodeFields(await nodes.patch(name, patch, signal)),
  };
}

function nodeEvents(events: EventRecorder): NodeEvents {
  return {
    async record({ metadata: { name, uid } }, event) {
      await events.record({ ...event, regarding: { apiVersion: 'v1', kind: 'Node', name, uid } });
    },
  };
}
