import { UnreachableError } from '../../runtime/kube/errors.ts';
import { LeaderElection } from '../../runtime/kube/leader-election.ts';
import type { Lease } from '../../runtime/kube/objects.ts';
import { leasesOf } from '../../runtime/kube/resources.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { random, type Tapped, type World, world } from './world.ts';

export const NAME = 'brupop-controller';
export const PERMITS = 'brupop.bottlerocket.aws/slots';

export interface Candidate {
  readonly transport: Tapped;
  readonly election: LeaderElection;
  readonly ended: Promise<void>;
  /** Reason why the last term ended. */
  lost(): unknown;
  stop(): void;
  /** As kill -9: nothing of it reaches the cluster any more. */
  kill(): void;
}

interface Behaviour {
  readonly isPredecessor?: (holder: string) => boolean;
  /** How long its work goes on once it is told to stop, milliseconds. */
  readonly windDownMs?: number;
}

export function candidate({ clock, tap }: World, identity: string, behaviour: Behaviour = {}): Candidate {
  const { isPredecessor, windDownMs = 0 } = behaviour;
  const transport = tap();
  const stop = new AbortController();
  let reason: unknown;
  const election = new LeaderElection({
    leases: leasesOf(transport, 'default'),
    name: NAME,
    identity,
    isPredecessor,
    onLeading: (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          void clock.sleep(windDownMs).then(() => reject(signal.reason as Error));
        });
      }),
    clock,
    random,
    logger: silentLogger,
  });
  return {
    transport,
    election,
    ended: election.run(stop.signal),
    lost: () => reason,
    stop: () => stop.abort(),
    kill: () => {
      transport.before = () => {
        throw new UnreachableError('killed');
      };
    },
  };
}

/** `a` leads and `b` waits. */
export async function leaderAndStandby(): Promise<{ cluster: World; a: Candidate; b: Candidate }> {
  const cluster = world();
  const a = candidate(cluster, 'a');
  await cluster.clock.advance(0);
  return { cluster, a, b: candidate(cluster, 'b') };
}

/** What a network does that drops packets: no answer until the caller gives up. */
export function unanswered({ signal }: KubeRequest): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new UnreachableError('aborted')));
  });
}

/** Whether there is a moment of the next half minute at which both lead. */
export async function bothLead({ clock }: World, a: Candidate, b: Candidate): Promise<boolean> {
  let both = false;
  for (let tenth = 0; tenth < 300; tenth++) {
    await clock.advance(100);
    both ||= a.election.leading && b.election.leading;
  }
  return both;
}

export const admin = (cluster: World) => leasesOf(cluster.admin, 'default');

export async function read(cluster: World): Promise<Lease> {
  const lease = await admin(cluster).get(NAME);
  if (!lease) throw new Error('no lease');
  return lease;
}

export async function swapPermits(cluster: World, permits: string): Promise<void> {
  const lease = await read(cluster);
  const annotations = { ...lease.metadata.annotations, [PERMITS]: permits };
  await admin(cluster).update({ ...lease, metadata: { ...lease.metadata, annotations } });
}
