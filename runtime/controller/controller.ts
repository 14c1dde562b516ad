import { countingFailures } from '../kube/counted.ts';
import { crdsOf, leasesOf, nodesOf, podsOf, shadowsOf } from '../kube/resources.ts';
import { EventBroadcaster } from '../kube/event-broadcaster.ts';
import { eventRecorder, type EventRecorder } from '../kube/events.ts';
import { LeaderElection } from '../kube/lease.ts';
import type { KubeTransport } from '../kube/transport.ts';
import { aborted } from '../lib/abort.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { CONTROLLER_LEASE } from '../shadow/names.ts';
import { ConditionWriter } from './condition-writer.ts';
import { type ControllerConfig, policyOf, scheduleOf } from './config.ts';
import { Executor } from './executor.ts';
import { Expectations } from './expectations.ts';
import { ControllerMetrics } from './metrics.ts';
import type { Command } from './plan/commands.ts';
import { plan, type Plan } from './plan/plan.ts';
import type { Policy } from './plan/policy.ts';
import type { ShadowView, Snapshot } from './plan/snapshot.ts';
import { Refusals } from './refusals.ts';
import { Reporter } from './reporter.ts';
import type { Schedule } from './schedule/schedule.ts';
import { slotsOn } from './slots/entries.ts';
import { NotLeadingError, SlotLedger } from './slots/ledger.ts';
import { migrateStorage } from './storage-migration.ts';
import { Wakeup } from '../lib/wakeup.ts';
import { World } from './world.ts';

export interface ControllerOptions {
  readonly transport: KubeTransport;
  /** The operator's own. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly config: ControllerConfig;
  /** Who this is on the Lease: new for each start of the process. */
  readonly identity: string;
  /** Whether a holder of the Lease is an earlier process in this one's place, and so surely dead. @default nobody is */
  readonly isPredecessor?: (holder: string) => boolean;
}

/** What a plan was made of, and the plan. */
export interface Outlook extends Plan {
  readonly snapshot: Snapshot;
  readonly leading: boolean;
  /** Who leads, by the Lease; undefined while nobody does. */
  readonly leader: string | undefined;
}

/** How soon a plan that met another world is made again, unless something is heard before. */
const RETRY = { firstMs: 100, maxMs: 30_000 };

/** Watches the cluster, plans, and carries out what is planned, for as long as it leads. */
export class Controller {
  readonly metrics = new ControllerMetrics();
  readonly #options: ControllerOptions;
  readonly #policy: Omit<Policy, 'conditionWrites'>;
  readonly #schedule: Schedule;
  readonly #world: World;
  readonly #ledger: SlotLedger;
  readonly #refusals: Refusals;
  readonly #conditions: ConditionWriter;
  readonly #executor: Executor;
  readonly #events: EventBroadcaster;
  readonly #reporter: Reporter;
  readonly #migrate: (signal: AbortSignal) => Promise<void>;
  readonly #election: LeaderElection;
  readonly #wakeup = new Wakeup();

  constructor(options: ControllerOptions) {
    const { namespace, clock, random, logger, config, identity, isPredecessor } = options;
    const transport = countingFailures(options.transport, (code) => this.metrics.apiFailed(code));
    const leases = leasesOf(transport, namespace);
    const shadows = shadowsOf(transport, namespace);
    const expectations = new Expectations();
    this.#events = new EventBroadcaster(recorderOf({ ...options, transport }), clock);
    this.#options = options;
    this.#policy = policyOf(config);
    this.#schedule = scheduleOf(config);
    this.#ledger = new SlotLedger({ leases, identity, clock });
    this.#refusals = new Refusals({ clock, random });
    this.#world = new World({ transport, namespace, clock, random, logger, expectations });
    this.#conditions = new ConditionWriter({ shadows, expectations, refusals: this.#refusals, clock, logger });
    const { agentTimeoutMs } = this.#policy;
    const telling = { events: this.#events, metrics: this.metrics, logger, clock, namespace };
    this.#reporter = new Reporter({ ...telling, agentTimeoutMs });
    const live = { shadows, nodes: nodesOf(transport), pods: podsOf(transport, namespace) };
    const ports = { ...live, ledger: this.#ledger, expectations, clock };
    const told = { reporter: this.#reporter, logger, onOver: () => this.#wakeup.ring() };
    this.#executor = new Executor({ ports, refusals: this.#refusals, ...told });
    const stored = { crds: crdsOf(transport), shadows: shadowsOf(transport), own: shadows };
    const migration = { ...stored, namespace, clock, logger };
    this.#migrate = (signal) => migrateStorage(migration, signal);
    const onLeading = (signal: AbortSignal): Promise<void> => this.#lead(signal);
    this.#election = new LeaderElection({
      leases,
      name: CONTROLLER_LEASE,
      identity,
      isPredecessor,
      onLeading,
      clock,
      random,
      logger,
    });
  }

  /** It knows the cluster. A process that does not lead is ready too. */
  get ready(): boolean {
    return this.#world.synced;
  }

  /** Runs until the signal aborts; what is under way is then finished or given up, and the Lease given back. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#world.run(signal), this.#events.run(signal), this.#stand(signal)]);
  }

  /** What would be done now, and the verdict on each node. A process that does not lead takes the slots from the Lease. */
  outlook(): Outlook {
    const now = this.#options.clock.now();
    const { leading, lease } = this.#election;
    const snapshot = {
      ...this.#world.view(),
      slots: leading ? this.#ledger.slots : slotsOn(lease),
      window: this.#schedule.at(now),
      refusals: this.#refusals.view(),
    };
    const planned = plan(snapshot, { ...this.#policy, conditionWrites: this.#conditions.capacity }, now);
    this.metrics.show(snapshot, planned, leading);
    return { ...planned, snapshot, leading, leader: lease?.spec?.holderIdentity || undefined };
  }

  async #stand(signal: AbortSignal): Promise<void> {
    try {
      await Promise.race([this.#world.filled(), aborted(signal)]);
    } catch {
      return;
    }
    await this.#election.run(signal);
  }

  /** One term as leader. Of slots that are found, nothing is known. */
  async #lead(signal: AbortSignal): Promise<void> {
    const stop = this.#world.onChange(() => this.#wakeup.ring());
    const besides = [this.#conditions.run(signal), this.#migrate(signal)];
    try {
      await this.#loop(signal);
    } finally {
      stop();
      await Promise.all([...besides, this.#executor.settled()]);
    }
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let loaded = false;
    let failures = 0;
    this.#ledger.reset();
    while (!signal.aborted) {
      let next: number | undefined;
      try {
        if (!loaded) await this.#ledger.load(signal);
        loaded = true;
        // The term may have ended meanwhile: nothing is told or asked for any more.
        if (!signal.aborted) next = await this.#cycle(signal);
      } catch (error) {
        this.#report(error, signal);
      }
      failures = next === undefined ? failures + 1 : 0;
      const retryAt = clock.now() + backoff(failures - 1, { ...RETRY, random });
      await this.#wakeup.wait(clock, next ?? retryAt, signal);
    }
  }

  /** Plans once and carries it out. When to look again, at the latest; undefined where not everything went as planned. */
  async #cycle(signal: AbortSignal): Promise<number | undefined> {
    const began = this.#options.clock.monotonic();
    const outlook = this.outlook();
    const { commands, wakeAt = Infinity, snapshot } = outlook;
    this.metrics.planned({ commands }, (this.#options.clock.monotonic() - began) / 1000);
    this.#conditions.replace(commands.filter((command) => command.kind === 'set-condition'));
    this.#reporter.report({ plan: outlook, snapshot, lease: this.#ledger.reference });
    const { moved, changed } = await this.#executor.carryOut(commands, namedIn(commands, snapshot), signal);
    if (moved > 0) return undefined;
    return changed ? this.#options.clock.now() : wakeAt;
  }

  /** Whoever no longer holds the Lease hears of it from the election. */
  #report(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (error instanceof NotLeadingError) this.#options.logger.info('somebody else leads');
    else this.#options.logger.warn('plan not carried out', { error });
  }
}

/** The shadows that commands name, by name: of a large fleet, a few. */
function namedIn(commands: readonly Command[], { shadows }: Snapshot): ReadonlyMap<string, ShadowView> {
  const names = new Set(commands.flatMap((command) => ('shadow' in command ? command.shadow : [])));
  const named = names.size === 0 ? [] : shadows.filter(({ name }) => names.has(name));
  return new Map(named.map((shadow) => [shadow.name, shadow]));
}

export function createController(options: ControllerOptions): Controller {
  return new Controller(options);
}

function recorderOf({ transport, clock, logger, config, identity }: ControllerOptions): EventRecorder {
  const instance = config.MY_POD_NAME || identity;
  return eventRecorder(transport, { component: 'brupop-controller', instance, clock, logger });
}
