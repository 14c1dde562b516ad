import { type Apiserver, createApiserver } from '../../runtime/apiserver/apiserver.ts';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import type { Preflight } from '../../runtime/drain/drain.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { type Logger, silentLogger } from '../../runtime/lib/log.ts';
import type { Random } from '../../runtime/lib/random.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { settle, VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { Tapped } from '../kube/world.ts';
import { Objects } from './objects.ts';
import { seeded } from '../random.ts';

export { SHADOWS } from './objects.ts';

/** One replica of the apiserver, with a hand on its wire to the Kubernetes API. */
export interface Replica extends Apiserver {
  readonly tap: Tapped;
}

export interface ReplicaSettings {
  readonly timeoutSec?: number;
  readonly maxEvictions?: number;
  readonly volumesSec?: number;
  readonly skipWaitSec?: number;
  readonly preflight?: Preflight;
  readonly refusalSec?: number;
  readonly requireCertificate?: boolean;
  readonly logger?: Logger;
  /** How far the replica's wall clock is ahead of the API server's, milliseconds. */
  readonly aheadMs?: number;
}

const DEFAULTS = {
  timeoutSec: 1800,
  maxEvictions: 5,
  volumesSec: 120,
  skipWaitSec: 300,
  preflight: 'warn',
  refusalSec: 1800,
  requireCertificate: false,
  logger: silentLogger,
  aheadMs: 0,
} as const;

/** A cluster with a node in the middle of its update, and as many replicas of the apiserver as a test wants. */
export class World extends Objects {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly cluster: EmbeddedCluster;
  /** Of every replica, where a test says nothing else. */
  settings: ReplicaSettings = {};

  constructor() {
    const clock = new VirtualClock();
    const random = seeded();
    const cluster = new EmbeddedCluster({ clock, random });
    super(cluster.transport(ADMIN));
    this.clock = clock;
    this.random = random;
    this.cluster = cluster;
  }

  /** The node `n1`, ready to be drained: wanted in RebootedIntoUpdate at 1.39.0, prepared, running 1.38.0 in the boot `boot-1`. */
  static async create(): Promise<World> {
    const world = new World();
    await world.prepare();
    await world.addNode('n1');
    await world.addShadow('n1');
    return world;
  }

  async agent(nodeName = 'n1', bootId: string | null = 'boot-1'): Promise<VerifiedAgent> {
    return { nodeName, nodeUid: (await this.node(nodeName)).metadata.uid, bootId };
  }

  replica(given: ReplicaSettings = this.settings): Replica {
    const settings = { ...DEFAULTS, ...given };
    const tap = new Tapped(this.cluster.transport(ADMIN));
    const apiserver = createApiserver({
      transport: tap,
      namespace: NAMESPACE,
      config: {
        DRAIN_TIMEOUT_MS: settings.timeoutSec * 1000,
        REQUIRE_CLIENT_CERTIFICATE: settings.requireCertificate,
        DRAIN_PREFLIGHT: settings.preflight,
        DRAIN_REFUSAL_TIMEOUT_MS: settings.refusalSec * 1000,
        MAX_CONCURRENT_EVICTIONS: settings.maxEvictions,
        VOLUME_DETACH_TIMEOUT_MS: settings.volumesSec * 1000,
        SKIP_WAIT_FOR_DELETE_TIMEOUT_MS: settings.skipWaitSec * 1000,
      },
      clock: ahead(this.clock, settings.aheadMs),
      random: this.random,
      logger: settings.logger,
      instance: 'replica',
    });
    return { ...apiserver, tap };
  }
}

/** Stops the first request that matches on its way; it goes on when told to. */
export function hold(tap: Tapped, matches: (request: KubeRequest) => boolean): Held {
  const released = Promise.withResolvers<void>();
  let reached = false;
  tap.before = async (request) => {
    if (reached || !matches(request)) return;
    reached = true;
    await released.promise;
  };
  return {
    async reached() {
      await settle();
      if (!reached) throw new Error('the request has not come');
    },
    async release() {
      released.resolve();
      await settle();
    },
  };
}

export interface Held {
  /** @throws Error when the request has not come after all that can run has run */
  reached(): Promise<void>;
  release(): Promise<void>;
}

/** The pods whose eviction a replica has asked for, one for each time. */
export function evictions({ tap }: Replica): string[] {
  return tap.requests.filter(({ path }) => path.endsWith('/eviction')).map(({ path }) => path.split('/').at(-2) ?? '');
}

/** A promise that a test looks at later: until then its rejection is nobody's fault. */
export function started<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** How a promise stands after all that can run has run: `ok`, the refusal's status and reason, or `pending`. */
export async function outcome(promise: Promise<unknown>): Promise<string> {
  let now = 'pending';
  promise.then(
    () => (now = 'ok'),
    (error: { status?: number; reason?: string }) => (now = `${error.status} ${error.reason}`),
  );
  await settle();
  return now;
}

function ahead(clock: Clock, ms: number): Clock {
  return {
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic(),
    sleep: (duration, signal) => clock.sleep(duration, signal),
  };
}
