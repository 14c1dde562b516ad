import type { Pod } from '../../../runtime/kube/objects.ts';
import { MINUTE_MS, rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';

/** A fleet's pods in virtual time, one minute after the other: what the apiserver would read of them while a release proves itself. */

/** What is wrong. All but the first few are no release's fault. */
export const FAULTS = {
  cni: 'the release breaks the network of pods',
  daemon: 'the release makes one DaemonSet crash',
  probe: 'the release keeps one DaemonSet from being Ready',
  registry: 'a registry is away for a while',
  service: 'a service that one owner needs is away: its pods crash everywhere',
  rollout: 'a bad revision of one owner is rolled out meanwhile',
  machine: 'one machine breaks the network of its pods',
  chronic: 'one machine has done so before its update',
  zone: 'the network of a zone loses packets',
  flapping: 'one pod in five is not Ready now and then',
  nothing: 'nothing is wrong',
} as const;
export type Fault = keyof typeof FAULTS;
export const OF_RELEASE: readonly Fault[] = ['cni', 'daemon', 'probe'];

export const OLD = '1.38.0';
export const NEW = '1.39.0';

interface Machine {
  readonly name: string;
  readonly zone: number;
  version: string;
  /** When it was back from its update; undefined before. */
  upAt: number | undefined;
  isDown: boolean;
}

interface Owner {
  readonly name: string;
  readonly kind: 'DaemonSet' | 'ReplicaSet';
}

interface Placed {
  readonly owner: Owner;
  readonly uid: number;
  machine: Machine;
  createdAt: number;
  revision: string;
  unreadySince: number | undefined;
}

interface Drawn {
  readonly machine: Machine;
  readonly owner: Owner;
  readonly zone: number;
  readonly from: number;
  readonly to: number;
}

export class EvidenceWorld {
  readonly machines: readonly Machine[];
  readonly #pods: Placed[] = [];
  readonly #fault: Fault;
  readonly #drawn: Drawn;
  readonly #random: Random;
  #uids = 0;

  constructor(fault: Fault, random: Random) {
    this.#fault = fault;
    this.#random = random;
    const count = 9 + Math.floor(random() * 40);
    this.machines = Array.from({ length: count }, (_, at) => ({
      name: `n${at}`,
      zone: at % 3,
      version: OLD,
      upAt: undefined,
      isDown: false,
    }));
    const daemons = Array.from({ length: 3 }, (_, at): Owner => ({ name: `daemon-${at}`, kind: 'DaemonSet' }));
    const sets = Array.from({ length: 8 }, (_, at): Owner => ({ name: `web-${at}`, kind: 'ReplicaSet' }));
    for (const owner of daemons) for (const machine of this.machines) this.#place(owner, machine, -600);
    for (const owner of sets) {
      const replicas = 1 + Math.floor(random() * 6);
      for (let made = 0; made < replicas; made++) this.#place(owner, this.#anyMachine(), -600);
    }
    const from = Math.floor(random() * 30);
    this.#drawn = {
      machine: one(this.machines.slice(0, 4), random),
      owner: one(this.#isOfRelease ? daemons.slice(0, 1) : [...daemons, ...sets], random),
      zone: Math.floor(random() * 3),
      from,
      to: from + 5 + Math.floor(random() * 60),
    };
  }

  /** Its pods go elsewhere, and its daemons wait. */
  drain(machine: Machine, now: number): void {
    machine.isDown = true;
    for (const pod of this.#pods.filter(({ owner, machine: on }) => on === machine && owner.kind === 'ReplicaSet')) {
      pod.machine = this.#anyMachine();
      pod.createdAt = now;
      pod.unreadySince = now;
    }
  }

  back(machine: Machine, now: number): void {
    Object.assign(machine, { isDown: false, version: NEW, upAt: now });
    for (const pod of this.#pods.filter(({ machine: on }) => on === machine)) pod.unreadySince = now;
    // What is scaled or restarted lands here too.
    for (const pod of this.#pods.filter(({ owner }) => owner.kind === 'ReplicaSet').slice(0, 4)) {
      Object.assign(pod, { machine, createdAt: now, unreadySince: now });
    }
  }

  /** When the first pod ailed for the release's sake; undefined where none has. */
  firstSickAt: number | undefined;

  step(now: number): void {
    if (this.#fault === 'rollout' && now === this.#drawn.from) this.#rollOut(now);
    for (const pod of this.#pods) {
      const isUnready = pod.machine.isDown || this.#isUnwell(pod, now);
      pod.unreadySince = isUnready ? (pod.unreadySince ?? now) : undefined;
    }
    if (this.#isOfRelease && this.#pods.some((pod) => !pod.machine.isDown && this.#ails(pod, now)))
      this.firstSickAt ??= now;
  }

  #ails(pod: Placed, now: number): boolean {
    return this.#ailmentOf(pod, now) !== undefined;
  }

  #isUnwell(pod: Placed, now: number): boolean {
    return this.#ails(pod, now) || now - Math.max(pod.createdAt, pod.machine.upAt ?? -600) < 1;
  }

  get #isOfRelease(): boolean {
    return OF_RELEASE.includes(this.#fault);
  }

  #rollOut(now: number): void {
    for (const pod of this.#pods.filter(({ owner }) => owner === this.#drawn.owner).slice(0, 2))
      Object.assign(pod, { revision: 'bad', createdAt: now, unreadySince: now });
  }

  /** The reason that its container waits for; '' where it runs and is not Ready. */
  #ailmentOf(pod: Placed, now: number): string | undefined {
    const { owner, zone, from, to } = this.#drawn;
    const { machine } = pod;
    const isNow = from <= now && now < to;
    const isUpdated = machine.version === NEW;
    const isOwn = pod.owner === owner;
    const isThere = machine === this.#drawn.machine;
    const cases: Readonly<Record<Fault, () => string | undefined | false>> = {
      cni: () => isUpdated && 'ContainerCreating',
      daemon: () => isUpdated && isOwn && 'CrashLoopBackOff',
      probe: () => isUpdated && isOwn && '',
      registry: () => isNow && pod.createdAt >= from && 'ImagePullBackOff',
      service: () => isNow && isOwn && 'CrashLoopBackOff',
      rollout: () => pod.revision === 'bad' && 'CrashLoopBackOff',
      machine: () => isNow && isThere && 'ContainerCreating',
      chronic: () => isThere && 'ContainerCreating',
      zone: () => isNow && machine.zone === zone && '',
      flapping: () => isOwn && (pod.uid * 7 + Math.floor(now / 9)) % 5 === 0 && '',
      nothing: () => false,
    };
    const found = cases[this.#fault]();
    return found === false ? undefined : found;
  }

  /** As the API server has them. */
  podsOf(where: (machine: Machine) => boolean, now: number): readonly Pod[] {
    return this.#pods.filter(({ machine }) => where(machine)).map((pod) => this.#object(pod, now));
  }

  isAilingOn(machine: Machine, now: number): ReadonlySet<string> {
    const ailing = this.#pods.filter((pod) => pod.machine === machine && this.#ailmentOf(pod, now) !== undefined);
    return new Set(ailing.map(({ owner }) => owner.name));
  }

  #object(pod: Placed, now: number): Pod {
    const reason = pod.machine.isDown ? undefined : this.#ailmentOf(pod, now);
    const state = reason ? { waiting: { reason } } : {};
    const lastTransitionTime = time(pod.unreadySince ?? pod.createdAt);
    const conditions = [
      { type: 'Ready', status: pod.unreadySince === undefined ? 'True' : 'False', lastTransitionTime },
    ];
    return {
      metadata: {
        name: `p${pod.uid}`,
        namespace: 'shop',
        uid: String(pod.uid),
        resourceVersion: '1',
        labels: { app: pod.owner.name, revision: pod.revision },
        creationTimestamp: time(pod.createdAt),
        ownerReferences: [{ apiVersion: 'apps/v1', ...pod.owner, uid: pod.owner.name, controller: true }],
      },
      spec: { nodeName: pod.machine.name },
      status: { phase: 'Running', conditions, containerStatuses: [{ name: 'c', state, restartCount: reason ? 9 : 0 }] },
    } as unknown as Pod;
  }

  #place(owner: Owner, machine: Machine, createdAt: number): void {
    this.#pods.push({ owner, uid: this.#uids++, machine, createdAt, revision: 'good', unreadySince: undefined });
  }

  #anyMachine(): Machine {
    return one(
      this.machines.filter(({ isDown }) => !isDown),
      this.#random,
    );
  }
}

function one<T>(values: readonly T[], random: Random): T {
  const [drawn] = values.slice(Math.floor(random() * values.length));
  if (drawn === undefined) throw new Error('there is nothing to draw from');
  return drawn;
}

export const instant = (minute: number): number => Date.parse('2026-01-01T00:00:00Z') + minute * MINUTE_MS;
const time = (minute: number): string => rfc3339(instant(minute));
