import { countingFailures } from '../kube/counted.ts';
import { EventBroadcaster } from '../kube/event-broadcaster.ts';
import { eventRecorder, type EventRecorder } from '../kube/event-recorder.ts';
import { RefusedEvents, tellingRefusals } from './telling/refused-tellings.ts';
import { LeaderElection } from '../kube/leader-election.ts';
import { policiesOf, releasesOf, shadowsOf } from '../api/resources.ts';
import { crdsOf, leasesOf, nodesOf, podsOf } from '../kube/resources.ts';
import type { ClusterConnection } from '../kube/in-cluster.ts';
import type { Basics } from '../lib/basics.ts';
import { unlessAborted } from '../lib/abort.ts';
import { momentOf } from '../lib/clock.ts';
import { type HttpAnswer, type HttpRoute, probeRoutes } from '../lib/http.ts';
import { type Random, randomId } from '../lib/random.ts';
import { plainText } from '../lib/plain.ts';
import { Wakeup } from '../lib/wakeup.ts';
import { CONTROLLER_LEASE, EVENT_REPORTERS } from '../api/shadow/names.ts';
import { askBy } from './checks/ask.ts';
import { CheckRunner } from './checks/runner.ts';
import { Caches } from './seeing/caches.ts';
import { ConditionWriter } from './writing/condition-writer.ts';
import type { ControllerConfig } from './config.ts';
import { ControlPlane } from './seeing/control-plane.ts';
import { Controller } from './controller.ts';
import { Executor } from './writing/executor.ts';
import { Expectations } from './seeing/expectations.ts';
import { Freshness } from './seeing/freshness.ts';
import { ControllerMetrics } from './telling/metrics.ts';
import { lifecycleConditionWriter } from './writing/lifecycle-conditions.ts';
import { nodeAnnotationWriter } from './writing/node-annotation-writer.ts';
import { arrivingKeys } from './plan/facts/arriving.ts';
import { arrivalWriter, preferenceWriter } from './writing/taint-writers.ts';
import { notifierBy, type NotifierFactory } from './telling/notifier.ts';
import { ordersBy, type OrdersFactory } from './seeing/orders.ts';
import { LiveLook } from './deciding/live-look.ts';
import { planReport, snapshotReport } from './telling/plan-report.ts';
import { OtherOperators } from './seeing/other-operators.ts';
import { Planner, type Preview } from './deciding/planner.ts';
import { Policies } from './seeing/policies.ts';
import { PolicyStatusWriter } from './writing/policy-status-writer.ts';
import { LedgerWriter } from './writing/ledger-writer.ts';
import { releaseCache } from './seeing/releases.ts';
import { managedBesides } from './seeing/people.ts';
import { CommandLimiters } from './writing/write-limiter.ts';
import { Reporter } from './telling/reporter.ts';
import { PermitLedger } from './permits/ledger.ts';
import { Remaking } from './permits/remaking.ts';
import type { ReadRepository } from './repositories/child.ts';
import { familiesOf, repositoriesBy } from './repositories/repositories.ts';
import { migrateStorage } from './writing/storage-migration.ts';

/** Who a process is on the Lease. */
export interface Identity {
  /** New for each start of the process, so that its writes cannot be taken for those of the process before (rule L5). */
  readonly identity: string;
  /** Whether a holder of the Lease is an earlier process in this one's place, and so certainly dead. @default none is */
  readonly isPredecessor?: (holder: string) => boolean;
}

export function newIdentity(
  { MY_POD_NAME: pod, MY_NODE_NAME: node }: Pick<ControllerConfig, 'MY_POD_NAME' | 'MY_NODE_NAME'>,
  random: Random,
): Required<Identity> {
  return {
    identity: `${pod || node}_${randomId(random)}`,
    // A kubelet restarts a pod's container only after the one before is gone, and no other pod has this name.
    isPredecessor: (holder) => pod !== '' && holder.startsWith(`${pod}_`),
  };
}

interface ManagerOptions extends Basics, ClusterConnection, Identity {
  /** Reads repositories of releases. @default nobody does */
  readonly readRepository?: ReadRepository | undefined;
  /** Makes the source of versions for hosts that find none by themselves (k3OS). @default there are no such hosts */
  readonly ordersOf?: OrdersFactory | undefined;
  /** Makes the notifier. @default there are Events alone */
  readonly notifierOf?: NotifierFactory | undefined;
  readonly config: ControllerConfig;
}

/** A whole controller process, without its sockets. */
export interface Manager {
  readonly metrics: ControllerMetrics;
  /** Whether it knows the cluster. A process that does not lead is ready too. */
  readonly ready: boolean;
  /** What would be done now, and the verdict on each node. */
  preview(): Preview;
  /** Runs until the signal aborts. What is under way is then finished or given up, and the Lease given back. */
  run(signal: AbortSignal): Promise<void>;
}

/** Wires a controller together. Nothing happens before `run`. */
export function createManager(options: ManagerOptions): Manager {
  const { clock, config } = options;
  const metrics = new ControllerMetrics();
  const base = partsOf(baseOf(options, metrics));
  const { caches, policies, releases, repositories, orders, permitLedger, ledgers } = base;
  const events = new EventBroadcaster(recorderOf(base), clock);
  const reporter = new Reporter({ ...base, events, agentTimeoutMs: config.AGENT_TIMEOUT_MS });
  const onLeading = async (signal: AbortSignal): Promise<void> => {
    const migration = { ...base, shadows: shadowsOf(base.transport), own: base.shadows };
    const writing = [base.conditions, base.statuses, ledgers, ...base.nodeWriters];
    const beside = [base.controlPlane, base.otherOperators, base.checks, ...writing].map((one) => one.run(signal));
    const writers = [...beside, migrateStorage(migration, signal)];
    const told = [base.notifier, orders, repositories].map((one) => one?.lead(signal));
    await Promise.all([controller.run(signal), ...told, ...writers]);
  };
  const election = new LeaderElection({ ...base, ...tellingRefusals(base, events), name: CONTROLLER_LEASE, onLeading });
  const planner = new Planner({ ...base, election });
  const liveLook = new LiveLook({ ...base, planner });
  const ports = { ...base, permitLedger };
  const executor = new Executor({ ...base, ports, liveLook, reporter, onOver: () => base.wakeup.ring() });
  const remaking = new Remaking({ ...base, ports, planner });
  const resign = (): void => election.resign();
  const controller = new Controller({ ...base, planner, executor, reporter, remaking, resign });
  metrics.collectFrom(planner, base);
  return {
    metrics,
    get ready() {
      return caches.ready;
    },
    preview: () => planner.preview(),
    run: async (signal) => {
      const led = unlessAborted(caches.synced, signal).then(
        () => election.run(signal),
        () => undefined,
      );
      const kept = [caches, policies, releases, base.freshness, orders].map((one) => one?.run(signal));
      await Promise.all([...kept, events.run(signal), led]);
    },
  };
}

/** What nearly every part of the controller needs. */
function baseOf(options: ManagerOptions, metrics: ControllerMetrics) {
  const { namespace } = options;
  const transport = countingFailures(options.transport, (code) => metrics.apiFailed(code));
  return {
    ...options,
    transport,
    metrics,
    leases: leasesOf(transport, namespace),
    shadows: shadowsOf(transport, namespace),
    nodes: nodesOf(transport),
    pods: podsOf(transport, namespace),
    crds: crdsOf(transport),
    expectations: new Expectations(options),
    freshness: new Freshness(options),
    limiters: new CommandLimiters(options),
    refusedEvents: new RefusedEvents(options.clock),
    wakeup: new Wakeup(),
  };
}

/** The parts that know the cluster, and those that write to it beside the plans. */
function partsOf(base: ReturnType<typeof baseOf>) {
  const orders = base.ordersOf && ordersBy(base.ordersOf, base);
  const manages = managedBesides(base.config, orders);
  const { notifierOf, metrics, config } = base;
  const permitLedger = new PermitLedger(base);
  const caches = new Caches({ ...base, orders, manages });
  return {
    ...base,
    repositories: repositoriesBy(base, () => familiesOf(caches.look(momentOf(base.clock), []))),
    orders,
    manages,
    notifier:
      notifierOf &&
      notifierBy(notifierOf, { ...base, dir: config.NOTIFICATIONS_DIR, metrics: metrics.addNotifications() }),
    caches,
    policies: new Policies({ ...base, orders }),
    releases: releaseCache(base),
    ledgers: new LedgerWriter({ ...base, releases: releasesOf(base.transport) }),
    permitLedger,
    controlPlane: new ControlPlane({ ...base, permitLedger }),
    otherOperators: new OtherOperators(base),
    checks: new CheckRunner({ ...base, ask: askBy({ ...base, prometheusUrl: config.PROMETHEUS_URL }) }),
    conditions: new ConditionWriter(base),
    nodeWriters: [
      nodeAnnotationWriter({ ...base, isOn: base.config.NODE_ANNOTATIONS }),
      lifecycleConditionWriter({ ...base, mode: base.config.NODE_LIFECYCLE_CONDITIONS }),
      preferenceWriter(base),
      arrivalWriter(base, arrivingKeys({ arrivingTaint: config.ARRIVING_TAINT })),
    ],
    statuses: new PolicyStatusWriter({ ...base, policies: policiesOf(base.transport) }),
  };
}

function recorderOf({ transport, config, identity, refusedEvents, ...rest }: ReturnType<typeof baseOf>): EventRecorder {
  const instance = config.MY_POD_NAME || identity;
  const onAnswer: RefusedEvents['note'] = (refusal) => refusedEvents.note(refusal);
  return eventRecorder(transport, { ...rest, onAnswer, component: EVENT_REPORTERS.controller, instance });
}

/** What the controller answers over plain HTTP. */
export function routesOf(manager: Manager): Readonly<Record<string, HttpRoute>> {
  const { registry } = manager.metrics;
  return {
    ...probeRoutes(() => manager.ready),
    '/metrics': async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
    '/plan': () => json(JSON.stringify(planReport(manager.preview()))),
    '/plan/snapshot': () => json(plainText(snapshotReport(manager.preview()))),
  };
}

const json = (text: string): HttpAnswer => ({ status: 200, contentType: 'application/json', body: `${text}\n` });
