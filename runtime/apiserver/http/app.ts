import { Router } from '@koa/router';
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { convertText, HEAD_LENGTH, unreadText } from '../conversion.ts';
import type { Metrics } from '../metrics.ts';
import { PATHS } from '../protocol.ts';
import { RefusedError } from '../refusal.ts';
import type { Service } from '../service.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { readBody } from './body.ts';
import { MemoryBound } from './memory-bound.ts';
import { answerErrors, countRequests, identify } from './middleware.ts';

export interface AppOptions {
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Whether agents must show a certificate besides their token. */
  readonly requireCertificate: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The API server sends a whole list in one review. */
const REVIEW_LIMIT = 32 * 1024 * 1024;
/** All reviews together: anybody who reaches the port can send one. */
const REVIEWS_LIMIT = 2 * REVIEW_LIMIT;

/** The HTTP API: who asks is found out, the service acts, errors become answers. */
export function createApp(options: AppOptions): Koa {
  const { metrics, logger } = options;
  const router = new Router();
  addAgentRoutes(router, options);
  addPublicRoutes(router, metrics);
  const app = new Koa();
  app.use(identify(options)).use(countRequests(options)).use(answerErrors(options));
  app.use(router.routes()).use(router.allowedMethods());
  app.on('error', (error) => logger.warn('the connection of a request failed', { error }));
  return app;
}

function addPublicRoutes(router: Router, { registry }: Metrics): void {
  const bound = new MemoryBound(REVIEWS_LIMIT);
  router.post(PATHS.crdConvert, (context) =>
    bound.run(async (keep) => {
      context.type = 'application/json';
      context.body = await converted(context.req, keep);
    }),
  );
  router.get(PATHS.ping, (context) => {
    context.body = 'pong';
  });
  router.get(PATHS.metrics, async (context) => {
    context.type = registry.contentType;
    context.body = await registry.metrics();
  });
}

/** A review is always answered with a review, also where it cannot be read. @throws RefusedError 503 while others hold the memory */
async function converted(request: IncomingMessage, keep: (bytes: number) => void): Promise<string> {
  let text = '';
  const note = (chunk: Buffer): void => {
    keep(chunk.length);
    if (text.length < HEAD_LENGTH) text += chunk.toString('latin1', 0, HEAD_LENGTH);
  };
  try {
    text = await readBody(request, REVIEW_LIMIT, note);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.reason === 'Busy') throw error;
    return unreadText(text, error.message);
  }
  return convertText(text);
}
