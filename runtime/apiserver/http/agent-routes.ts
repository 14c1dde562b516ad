import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { VerifiedAgent, Authenticator } from '../auth/authenticator.ts';
import { optionalHeader, readCredentials } from '../auth/credentials.ts';
import { HEADERS, PATHS } from '../../api/agent/protocol.ts';
import { type State, STATES } from '../../api/shadow/states.ts';
import { FairLimiter } from '../../lib/fair-limiter.ts';
import { RefusedError } from '../refusal.ts';
import type { Service } from '../service.ts';
import { readJson } from './body.ts';
import { requestId } from './middleware.ts';

/** A status is below 4 KiB. */
const STATUS_LIMIT = 64 * 1024;
const RESOURCE_VERSION = /^[\w-]{1,64}$/;
const STATE = new RegExp(`^(${STATES.join('|')})$`);

interface AgentRouteOptions {
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Whether agents must show a certificate besides their token. */
  readonly requireCertificate: boolean;
}

/** Resolves with the body of the answer. */
type Act = (agent: VerifiedAgent, context: Context, gone: AbortSignal) => Promise<object | void>;

/** What an agent asks for by a path alone. */
const ACTIONS = ['uncordon', 'excludeFromLb', 'removeExclusionFromLb', 'lookForDisplaced', 'lookAtWorkloads'] as const;

/** The routes of agents. The caller is authenticated before anything of the body is read. */
export function addAgentRoutes(
  router: Router,
  { service, authenticator, requireCertificate }: AgentRouteOptions,
): void {
  const inFlight = new FairLimiter(IN_FLIGHT);
  const forAgent = (act: Act): Middleware => {
    return async (context) => {
      const gone = goneSignal(context);
      if (requireCertificate) expectCertificate(context.req.socket);
      const agent = await authenticator.authenticate(readCredentials(context.req.headersDistinct), context.ip);
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
    forAgent(async (agent, context) => {
      const version = optionalHeader(context.req.headersDistinct, HEADERS.shadowVersion, RESOURCE_VERSION);
      const state = optionalHeader(context.req.headersDistinct, HEADERS.shadowState, STATE) as State | undefined;
      return service.putStatus({ agent, status: await readJson(context, STATUS_LIMIT), version, state });
    }),
  );
  router.post(
    PATHS.cordonAndDrain,
    forAgent((agent, context, gone) => service.cordonAndDrain(agent, gone, requestId(context))),
  );
  for (const action of ACTIONS) {
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
/** The requests of each node that run at once. An agent's token is no safer than its node, and each request takes memory. */
const IN_FLIGHT = {
  max: Infinity,
  maxPerParty: MAX_IN_FLIGHT,
  maxWaiting: 0,
  busy: () =>
    new RefusedError(429, 'TooManyRequests', `${MAX_IN_FLIGHT} requests of the node are under way; ask again`),
};
