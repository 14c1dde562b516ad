import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { VerifiedAgent, Authenticator } from '../auth/authenticator.ts';
import { optionalHeader, readCredentials } from '../auth/credentials.ts';
import { HEADERS, PATHS } from '../../agentapi/protocol.ts';
import { RefusedError } from '../refusal.ts';
import type { Service } from '../service.ts';
import { readJson } from './body.ts';
import { requestId } from './middleware.ts';

/** A status is below 4 KiB. */
const STATUS_LIMIT = 64 * 1024;
const RESOURCE_VERSION = /^[\w-]{1,64}$/;

interface AgentRouteOptions {
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Whether agents must show a certificate besides their token. */
  readonly requireCertificate: boolean;
}

/** Resolves with the body of the answer. */
type Act = (agent: VerifiedAgent, context: Context, gone: AbortSignal) => Promise<object | void>;

/** The routes of agents. The caller is authenticated before anything of the body is read. */
export function addAgentRoutes(
  router: Router,
  { service, authenticator, requireCertificate }: AgentRouteOptions,
): void {
  const inFlight = new MaxInFlight();
  const forAgent = (act: Act): Middleware => {
    return async (context) => {
      const gone = goneSignal(context);
      if (requireCertificate) expectCertificate(context.req.socket);
      const { headersDistinct, socket } = context.req;
      const agent = await authenticator.authenticate(readCredentials(headersDistinct), socket.remoteAddress ?? '');
      // Nothing is done for a caller that has left: its drain would cordon the node while nobody waits.
      gone.throwIfAborted();
      const body = await inFlight.run(agent.nodeName, () => act(agent, context, gone));
      context.status = 200;
      context.body = body ?? '';
    };
  };
  router.post(
    PATHS.resource,
    forAgent((agent) => service.createShadow(agent)),
  );
  router.put(
    PATHS.resource,
    forAgent(async (agent, { req }) => {
      const version = optionalHeader(req.headersDistinct, HEADERS.shadowVersion, RESOURCE_VERSION);
      return service.putStatus({ agent, status: await readJson(req, STATUS_LIMIT), version });
    }),
  );
  router.post(
    PATHS.cordonAndDrain,
    forAgent((agent, context, gone) => service.cordonAndDrain(agent, gone, requestId(context))),
  );
  for (const action of ['uncordon', 'excludeFromLb', 'removeExclusionFromLb'] as const) {
    router.post(
      PATHS[action],
      forAgent((agent) => service[action](agent)),
    );
  }
}

/** @throws RefusedError 401 for a client without a certificate, or with one that the CA of clients has not signed */
function expectCertificate(socket: Socket): void {
  if (!(socket instanceof TLSSocket && socket.authorized))
    throw new RefusedError(401, 'Unauthorized', 'expected a certificate of an agent');
}

/** Aborts when the client goes away, or has been answered. The event comes once, so this listens before anything is awaited. */
function goneSignal({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort(new RefusedError(499, 'ClientGone', 'the client went away')));
  return gone.signal;
}

/** An agent sends one request at a time. Earlier ones may still run here where its connection broke unnoticed. */
const MAX_IN_FLIGHT = 4;

/** Limits the requests of each node that run at once. An agent's token is no safer than its node, and each request takes memory. */
class MaxInFlight {
  readonly #inFlight = new Map<string, number>();

  /** Resolves as `work` does. @throws RefusedError 429 where the node has as many already */
  async run<T>(nodeName: string, work: () => Promise<T>): Promise<T> {
    const count = this.#inFlight.get(nodeName) ?? 0;
    if (count >= MAX_IN_FLIGHT)
      throw new RefusedError(429, 'TooManyRequests', `${MAX_IN_FLIGHT} requests of the node are under way; ask again`);
    this.#inFlight.set(nodeName, count + 1);
    try {
      return await work();
    } finally {
      const left = (this.#inFlight.get(nodeName) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(nodeName, left);
      else this.#inFlight.delete(nodeName);
    }
  }
}
