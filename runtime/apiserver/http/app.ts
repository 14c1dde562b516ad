import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { convert } from '../conversion.ts';
import type { Metrics } from '../metrics.ts';
import { PATHS } from '../protocol.ts';
import type { Service } from '../service.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { readBody } from './body.ts';
import { answerErrors, countRequests, identify } from './middleware.ts';

export interface AppOptions {
  readonly service: Service;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The API server sends a whole list in one review. */
const REVIEW_LIMIT = 32 * 1024 * 1024;

/** The HTTP API: who asks is found out, the service acts, errors become answers. */
export function createApp(options: AppOptions): Koa {
  const { service, authenticator, metrics, logger } = options;
  const router = new Router();
  addAgentRoutes(router, service, authenticator);
  addPublicRoutes(router, metrics);
  const app = new Koa();
  app.use(identify(options)).use(countRequests(options)).use(answerErrors(options));
  app.use(router.routes()).use(router.allowedMethods());
  app.on('error', (error) => logger.warn('the connection of a request failed', { error }));
  return app;
}

function addPublicRoutes(router: Router, { registry }: Metrics): void {
  router.post(PATHS.crdConvert, async (context) => {
    context.body = convert(await reviewIn(context));
  });
  router.get(PATHS.ping, (context) => {
    context.body = 'pong';
  });
  router.get(PATHS.metrics, async (context) => {
    context.type = registry.contentType;
    context.body = await registry.metrics();
  });
}

/** What cannot be read is left to the conversion to refuse: a review is always answered with a review. */
async function reviewIn({ req }: Context): Promise<unknown> {
  try {
    return JSON.parse(await readBody(req, REVIEW_LIMIT));
  } catch {
    return undefined;
  }
}
