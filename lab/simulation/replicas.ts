import type { Reply } from '../../runtime/agent/apiserver/client.ts';
import type { Random } from '../../runtime/lib/random.ts';
import type { WebhookCall } from '../sim/cluster/cluster.ts';
import { Life, type TrueTime } from './clock.ts';
import { type Lines, once } from './lines.ts';
import type { Incoming } from './memory-http.ts';
import type { Instant } from './types.ts';
import { type Sender, waitFor } from './waiting.ts';

/** An apiserver that listens. */
export interface Replica {
  readonly name: string;
  readonly life: Life;
  /** Answers a request; `gone` aborts when the client has hung up. */
  readonly serve: (incoming: Incoming, gone: AbortSignal) => Promise<Reply>;
}

interface Endpoint {
  readonly replica: Replica;
  leftAt?: Instant;
}

export interface Visit {
  readonly from: string;
  readonly incoming: Incoming;
  readonly sender: Sender;
}

/** Nodes send to an endpoint that has gone for so long, milliseconds. */
const STALE_MS = 3_000;
/** So long an apiserver whose machine is off stays an endpoint: until its node counts as lost, milliseconds. */
const LOST_MS = 42_000;
/** An apiserver asks a silent connection whether it is alive after 30 s, and then each second, ten times (`keepAliveInitialDelay`), milliseconds. */
const KEEP_ALIVE_MS = 40_000;
const API = 'api';

/** The Service of the apiservers. */
export class Replicas {
  readonly #time: TrueTime;
  readonly #random: Random;
  readonly #lines: Lines;
  readonly #all = new Map<string, Endpoint>();
  /** How many times over, by name. */
  readonly #distrusted = new Map<string, number>();

  constructor({ time, random, lines }: { readonly time: TrueTime; readonly random: Random; readonly lines: Lines }) {
    this.#time = time;
    this.#random = random;
    this.#lines = lines;
  }

  /** It takes requests until its life is over. */
  join(replica: Replica): void {
    const one: Endpoint = { replica };
    this.#all.set(replica.name, one);
    replica.life.onOver(() => this.#leave(one));
  }

  /** It is no longer an endpoint; what comes all the same is served as long as it lives. */
  leave(name: string): void {
    const one = this.#all.get(name);
    if (one) this.#leave(one);
  }

  #leave(one: Endpoint): void {
    one.leftAt ??= this.#time.monotonic() + (one.replica.life.isSilent ? LOST_MS : 0);
  }

  /** Nobody takes its certificate, the Kubernetes API included, until what is returned is called: whoever connects ends in the handshake. */
  distrust(name: string): () => void {
    const add = (by: number): unknown => this.#distrusted.set(name, (this.#distrusted.get(name) ?? 0) + by);
    add(1);
    return once(() => add(-1));
  }

  /** One of the endpoints, as nodes know them. */
  choose(): Replica | undefined {
    const now = this.#time.monotonic();
    const known = [...this.#all.values()].filter(({ leftAt = Infinity }) => now < leftAt + STALE_MS);
    return known[Math.floor(this.#random() * known.length)]?.replica;
  }

  /** The request has arrived where the replica is, or was. */
  visit(replica: Replica | undefined, { from, incoming, sender }: Visit): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (replica?.life.isSilent) return;
      if (!replica || replica.life.isOver) return reject(failure('ECONNREFUSED'));
      const { life, name, serve } = replica;
      if ((this.#distrusted.get(name) ?? 0) > 0) return reject(failure('CERT_HAS_EXPIRED'));
      const hungUp = new AbortController();
      // What a client sends as it hangs up may not get through either.
      const noticed = (): Promise<unknown> => {
        const unanswered = this.#time.sleep(KEEP_ALIVE_MS);
        return sender.isSilent() ? unanswered : Promise.race([unanswered, this.#lines.pass(from, name)]);
      };
      sender.onGone(() => void noticed().then(() => hungUp.abort()));
      const leave = life.onOver(() => (life.isSilent ? undefined : reject(failure('ECONNRESET'))));
      life.deliver(() => {
        serve(incoming, hungUp.signal)
          .finally(leave)
          .then(
            // What ended just now has sent nothing.
            (reply) => life.isOver || resolve(reply),
            () => life.isSilent || reject(failure('ECONNRESET')),
          );
      });
    });
  }

  /** How the Kubernetes API asks one of them to convert objects. */
  readonly dial = async ({ service: { path }, body, timeoutMs: ms }: WebhookCall): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const incoming = { method: 'POST', path, headers, body: JSON.stringify(body) };
    const replica = this.choose();
    const to = replica?.name ?? 'nowhere';
    const patience = { time: this.#time, life: new Life(), ms, gaveUp: () => new Error('context deadline exceeded') };
    const { status, body: text } = await waitFor(patience, async (sender) => {
      await this.#lines.pass(API, to);
      const reply = await this.visit(replica, { from: API, incoming, sender });
      await this.#lines.pass(to, API);
      return reply;
    });
    if (status !== 200) throw new Error(`the webhook answered ${status}`);
    return JSON.parse(text) as unknown;
  };
}

/** As a socket fails. */
export function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
