import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { HEADERS, PATHS } from '../../../runtime/api/agent/protocol.ts';
import type { Endpoint } from './replica.ts';
import type { Identity } from './stand.ts';

/** What the process of this file does: a job comes in by IPC, and what came of it goes out. */
export interface Load {
  readonly endpoint: Endpoint;
  readonly agents: readonly Identity[];
  /** Statuses a second, at even distances, whether or not those before are answered. */
  readonly rate: number;
  readonly seconds: number;
  /** Share of the agents that keep their connection; the others open one for each request, as agents do. */
  readonly kept: number;
}

export interface LoadResult {
  /** Milliseconds from when a request was due, not from when it was sent: a load that lags must not look fast. */
  readonly latencies: readonly number[];
  /** Milliseconds from when a request was due until it was sent. */
  readonly lags: readonly number[];
  /** By status code, or the system's error code; the reports before anything is measured included. */
  readonly answers: Readonly<Record<string, number>>;
  /** How many different certificates were shown. */
  readonly certificates: number;
  /** CPU seconds of this process. */
  readonly cpuSeconds: number;
}

/**
 * Before anything is measured each agent reports once, spread over this time, and then all go on for as long at the full rate: what is
 * asked for is how an apiserver bears a load, not how a thousand agents come to one that has just started and whose code is still slow.
 */
const WARM_UP_SECONDS = 10;

process.once('message', (load: Load) => void new Generator(load).run().then((result) => process.send?.(result)));

class Generator {
  readonly #load: Load;
  readonly #secureContext: SecureContext;
  /** One connection for each agent that keeps it. */
  readonly #kept: readonly Agent[];
  readonly #latencies: number[] = [];
  readonly #lags: number[] = [];
  readonly #answers: Record<string, number> = {};
  readonly #certificates = new Set<string>();
  #sent = 0;

  constructor(load: Load) {
    this.#load = load;
    this.#secureContext = createSecureContext({ ca: load.endpoint.caPem });
    this.#kept = load.agents
      .slice(0, load.agents.length * load.kept)
      .map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  }

  async run(): Promise<LoadResult> {
    const { rate, seconds, agents } = this.#load;
    await this.#ask(agents.length, agents.length / WARM_UP_SECONDS);
    await this.#ask(rate * WARM_UP_SECONDS, rate);
    this.#latencies.length = 0;
    this.#lags.length = 0;
    await this.#ask(rate * seconds, rate);
    const { user, system } = process.cpuUsage();
    for (const agent of this.#kept) agent.destroy();
    return {
      latencies: this.#latencies,
      lags: this.#lags,
      answers: this.#answers,
      certificates: this.#certificates.size,
      cpuSeconds: (user + system) / 1e6,
    };
  }

  async #ask(requests: number, rate: number): Promise<void> {
    const pending: Promise<void>[] = [];
    const began = performance.now();
    for (let index = 0; index < requests; index++) {
      const due = began + (index * 1000) / rate;
      const early = due - performance.now();
      if (early > 0) await sleep(early);
      this.#lags.push(performance.now() - due);
      pending.push(this.#report(index % this.#load.agents.length, due));
    }
    await Promise.all(pending);
  }

  async #report(agent: number, due: number): Promise<void> {
    const answer = await this.#put(agent, this.#sent++).catch(({ code = 'broken' }: NodeJS.ErrnoException) => code);
    this.#latencies.push(performance.now() - due);
    this.#answers[answer] = (this.#answers[answer] ?? 0) + 1;
  }

  /** @param crashCount makes each status another */
  #put(index: number, crashCount: number): Promise<number> {
    const { port, servername } = this.#load.endpoint;
    const { headers, body } = status(this.#load.agents[index], crashCount);
    const tls = { servername, secureContext: this.#secureContext, agent: this.#kept[index] ?? false };
    const options = { ...tls, host: '127.0.0.1', port, method: 'PUT', path: PATHS.resource, headers };
    return new Promise((resolve, reject) => {
      const outgoing = request(options, (incoming) => {
        this.#noteCertificate(incoming);
        incoming.resume().once('end', () => resolve(incoming.statusCode ?? 0));
        incoming.once('error', reject);
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  #noteCertificate({ socket }: IncomingMessage): void {
    if (socket instanceof TLSSocket) this.#certificates.add(socket.getPeerX509Certificate()?.fingerprint256 ?? 'none');
  }
}

function status(agent: Identity | undefined, crashCount: number): { headers: Record<string, string>; body: string } {
  if (!agent) throw new Error('a load needs agents');
  const report = {
    current_version: '1.38.0',
    target_version: '1.39.0',
    current_state: 'Idle',
    crash_count: crashCount,
  };
  const body = JSON.stringify(report);
  const headers = {
    [HEADERS.nodeName]: agent.nodeName,
    [HEADERS.nodeUid]: agent.nodeUid,
    [HEADERS.token]: agent.token,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  return { headers, body };
}
