import type { HostTransport } from '../../runtime/agent/hosts/bottlerocket/calls.ts';
import type { RoundTrip } from '../../runtime/agent/apiserver/client.ts';
import { HEADERS } from '../../runtime/api/agent/protocol.ts';
import { apiStatusError, UnexpectedAnswerError, UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport, KubeWatch } from '../../runtime/kube/transport.ts';
import type { ApiResponse } from '../sim/cluster/api.ts';
import type { EmbeddedCluster } from '../sim/cluster/cluster.ts';
import { overTheWire } from '../sim/cluster/object.ts';
import { refusal } from '../sim/cluster/transport.ts';
import { Carriage, type CarriageOptions, type Member, type Parcel } from './carriage.ts';
import type { History, SentRequest } from './history.ts';
import { Lines } from './lines.ts';
import { failure, Replicas } from './replicas.ts';
import { SECOND } from './units.ts';
import { waitFor } from './waiting.ts';
import { Watches } from './watches.ts';

export interface NetworkOptions extends Omit<CarriageOptions, 'lines'> {
  readonly cluster: EmbeddedCluster;
  readonly history: History;
}

/** The name of the Kubernetes API among the parties. */
const API = 'api';
const REQUEST_TIMEOUT_MS = 30_000;

/** Headers of an agent's request. */
type CallerHeaders = Readonly<Record<string, string>>;

/** A request to the Kubernetes API, and whether nobody waits for its answer any more. */
interface Dispatch extends Pick<Parcel<unknown>, 'asked'> {
  readonly sent: SentRequest;
  readonly call: string;
  readonly isGone: () => boolean;
}

type Asking = Pick<KubeRequest, 'method' | 'path' | 'query' | 'body' | 'contentType' | 'signal' | 'timeoutMs'>;

/** All lines between processes, the Kubernetes API and apiservers. Nothing arrives at once, and not all of it arrives. */
export class SimulatedNetwork {
  readonly #options: NetworkOptions;
  /** Between processes, apiservers and `api`, the Kubernetes API. */
  readonly lines: Lines;
  readonly carriage: Carriage;
  readonly watches: Watches;
  readonly replicas: Replicas;
  /** Of each agent, as whom it has asked last. */
  readonly #callers = new Map<string, CallerHeaders>();
  /** Agents that speak for another, and for which. */
  readonly #aliases = new Map<string, string>();

  constructor(options: NetworkOptions) {
    const { time, random } = options;
    const lines = new Lines(time, random);
    this.#options = options;
    this.lines = lines;
    this.carriage = new Carriage({ ...options, lines });
    this.watches = new Watches({ time, random, lines });
    this.replicas = new Replicas({ time, random, lines });
  }

  /** The agent asks apiservers in the name of another one's node, with its own token. Nothing until that has asked for itself. */
  speakFor(agent: string, other: string): () => void {
    this.#aliases.set(agent, other);
    return () => void this.#aliases.delete(agent);
  }

  /** An agent that speaks for another states the identity of that one, with its own token. */
  #headersOf(agent: string, headers: CallerHeaders): CallerHeaders {
    const other = this.#callers.get(this.#aliases.get(agent) ?? '');
    if (!other) {
      this.#callers.set(agent, headers);
      return headers;
    }
    const { [HEADERS.shadowVersion]: _, [HEADERS.shadowState]: __, ...own } = headers;
    return { ...own, ...named(other) };
  }

  /** The Kubernetes API as a process reaches it. */
  kube(member: Member): KubeTransport {
    return {
      request: (request) => this.#request(member, request),
      watch: (watch) => this.watches.open(member, watch, (query) => this.#openWatch(member, { ...watch, query })),
    };
  }

  async #request(member: Member, request: KubeRequest): Promise<unknown> {
    const call = `${request.method} ${request.path}`;
    const response = await this.#ask(member, request, call);
    if ('stream' in response) throw new UnreachableError(`${call}: a watch has to be asked for as one`);
    // In whole seconds.
    request.onDate?.(Math.floor(this.#options.time.now() / SECOND) * SECOND);
    return response.body;
  }

  #openWatch(
    member: Member,
    { path, query, signal }: Pick<KubeWatch, 'path' | 'query' | 'signal'>,
  ): Promise<ApiResponse> {
    const asking: Asking = { method: 'GET', path, ...(query && { query }), ...(signal && { signal }) };
    return this.#ask(member, asking, `WATCH ${path}`);
  }

  #ask(member: Member, asking: Asking, call: string): Promise<ApiResponse> {
    const { method, path, query, body, contentType = 'application/json', signal, timeoutMs: ms } = asking;
    const { time } = this.#options;
    const headers = { accept: 'application/json', 'content-type': contentType };
    const sender = { by: member.process.name, sentAt: time.monotonic() };
    const sent: SentRequest = { method, path, headers, body: overTheWire(body), sender, ...(query && { query }) };
    const gaveUp = (why: string): Error => new UnreachableError(`${call}: ${why}`);
    return waitFor({ time, life: member.life, ms: ms ?? REQUEST_TIMEOUT_MS, signal, gaveUp }, (waiting) => {
      this.#options.history.sent(sent, sender.by);
      const about = { sent, call, asked: { to: 'api', request: asking }, isGone: waiting.isGone } as const;
      return this.carriage.carry(this.#parcel(member, about), waiting);
    });
  }

  #parcel(member: Member, { sent, call, asked, isGone }: Dispatch): Parcel<ApiResponse> {
    const { cluster, history } = this.#options;
    return {
      member,
      asked,
      to: API,
      land: async () => {
        const response = await cluster.handle(sent, member.user);
        history.answered(sent, member.user, response.status);
        if ('stream' in response || response.status < 400) return response;
        throw refusal(call, response);
      },
      answered: (code, byProxy) => {
        if (!isGone()) history.answered(sent, member.user, code);
        const status = { code, reason: REASONS[code] ?? 'Unknown', message: 'as the simulation has it' };
        throw byProxy ? new UnexpectedAnswerError(call, status) : apiStatusError(call, status);
      },
      broken: (code) => new UnreachableError(`${call}: ${code}`),
    };
  }

  /** The Service of the apiservers as an agent reaches it. */
  exchange(member: Member): RoundTrip {
    const { time, history } = this.#options;
    const { life, process } = member;
    const { name: by, node = '' } = process;
    return (asked, signal) => {
      const outgoing = { ...asked, headers: this.#headersOf(by, asked.headers) };
      const gaveUp = (): Error => (signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      return waitFor({ time, life, signal, gaveUp }, (sender) => {
        history.sentToApiserver(by, node);
        const replica = this.replicas.choose();
        const to = replica?.name ?? 'nowhere';
        return this.carriage.carry(
          {
            member,
            to,
            asked: { to: 'apiserver', request: outgoing },
            land: () => {
              const { path, body, headers } = outgoing;
              history.add({ kind: 'asked', by, node, to, path, body, acted: headers[HEADERS.shadowVersion] });
              return this.replicas.visit(replica, { from: by, incoming: outgoing, sender });
            },
            answered: (status) => ({ status, body: '' }),
            broken: failure,
          },
          sender,
        );
      });
    };
  }

  /** The host's API as the agent reaches it: on the same machine, so that nothing takes time on its way. */
  host({ process, life }: Member, inner: HostTransport): HostTransport {
    return {
      request: (request) =>
        new Promise((resolve, reject) => {
          if (life.isOver) return;
          const { method, path } = request;
          const meeting = this.#options.moments.meet(process, { to: 'host', request: { method, path } });
          const answered = (settle: () => void): void => {
            meeting?.pass('between');
            life.deliver(settle);
            meeting?.pass('after');
          };
          meeting?.pass('before');
          life.deliver(() => {
            inner.request(request).then(
              (value) => answered(() => resolve(value)),
              (error: Error) => answered(() => reject(error)),
            );
          });
        }),
    };
  }
}

const named = ({ [HEADERS.nodeName]: name = '', [HEADERS.nodeUid]: uid = '' }: CallerHeaders): CallerHeaders => ({
  [HEADERS.nodeName]: name,
  [HEADERS.nodeUid]: uid,
});

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
