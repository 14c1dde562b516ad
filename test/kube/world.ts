import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import type { KubeRequest, KubeTransport, KubeWatch, WatchEvent } from '../../runtime/kube/transport.ts';
import { settle, VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';

/** A transport with a hand on the wire: every request and watch can be counted, refused, or cut. */
export class Tapped implements KubeTransport {
  readonly requests: KubeRequest[] = [];
  readonly watches: KubeWatch[] = [];
  /** Throws, or returns to let the request through. */
  before: (request: KubeRequest) => void | Promise<void> = () => undefined;
  /** Throws for an answer that got lost, waits for one that is late: what was asked has been done. */
  after: (request: KubeRequest) => void | Promise<void> = () => undefined;
  beforeWatch: (watch: KubeWatch) => void = () => undefined;
  readonly #inner: KubeTransport;
  #cut = new AbortController();
  #hangs = false;

  constructor(inner: KubeTransport) {
    this.#inner = inner;
  }

  async request(request: KubeRequest): Promise<unknown> {
    this.requests.push(request);
    await this.#turn(this.requests);
    await this.before(request);
    const answer = await this.#inner.request(request);
    await this.after(request);
    return answer;
  }

  async *watch(watch: KubeWatch): AsyncGenerator<WatchEvent> {
    this.watches.push(watch);
    await this.#turn(this.watches);
    this.beforeWatch(watch);
    const cut = this.#cut.signal;
    if (this.#hangs) await new Promise((resolve) => watch.signal?.addEventListener('abort', resolve));
    const signal = watch.signal ? AbortSignal.any([watch.signal, cut]) : cut;
    yield* this.#inner.watch({ ...watch, signal });
    if (cut.aborted) throw cut.reason;
  }

  /** Who asks again without a pause would leave nobody else a turn, not even Jest to end the test. */
  async #turn({ length }: readonly unknown[]): Promise<void> {
    if (length % 1000 === 0) await settle(1);
  }

  /** Breaks every watch that is open. */
  cut(error: Error): void {
    this.#cut.abort(error);
    this.#cut = new AbortController();
  }

  /** Every watch that is open breaks, and the next ones are not answered. */
  hang(): void {
    this.#hangs = true;
    this.cut(new UnreachableError('reset'));
  }

  /** What a kill -9 is to everybody else: nothing of this party reaches the cluster any more. */
  kill(): void {
    const dead = new UnreachableError('killed');
    const refuse = (): never => {
      throw dead;
    };
    this.before = refuse;
    this.beforeWatch = refuse;
    this.cut(dead);
  }
}

export const random = (): number => 0.5;

export interface World {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  /** The cluster as its administrator sees it, for the test itself. */
  readonly admin: KubeTransport;
  /** A connection of its own for a party under test. */
  readonly tap: () => Tapped;
}

export function world(): World {
  const clock = new VirtualClock();
  const cluster = new EmbeddedCluster({ clock, random });
  const admin = cluster.transport(ADMIN);
  return { clock, cluster, admin, tap: () => new Tapped(cluster.transport(ADMIN)) };
}

export async function createNode(admin: KubeTransport, name: string, labels = {}): Promise<KubeObject> {
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
  return (await admin.request({ method: 'POST', path: '/api/v1/nodes', body })) as KubeObject;
}

export async function patchNode(admin: KubeTransport, name: string, body: object): Promise<KubeObject> {
  const contentType = 'application/merge-patch+json';
  return (await admin.request({ method: 'PATCH', path: `/api/v1/nodes/${name}`, body, contentType })) as KubeObject;
}

export async function deleteNode(admin: KubeTransport, name: string): Promise<void> {
  await admin.request({ method: 'DELETE', path: `/api/v1/nodes/${name}` });
}
