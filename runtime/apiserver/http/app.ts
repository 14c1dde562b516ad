import { Router } from '@koa/router';
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { convertBytes, HEAD_LENGTH, unreadText } from '../conversion.ts';
import type { Metrics } from '../metrics.ts';
import { PUBLIC_PATHS } from '../config.ts';
import { RefusedError } from '../refusal.ts';
import type { Service } from '../service.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { readBody, writeJson } from './body.ts';
import { type Holding, MemoryBound } from './memory-bound.ts';
import { answerErrors, countRequests, assignRequestId } from './middleware.ts';
import type { RefusalLog } from './refusal-log.ts';

interface AppOptions {
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** Whether agents must show a certificate besides their token. */
  readonly requireCertificate: boolean;
  readonly metrics: Metrics;
  readonly refusals: RefusalLog;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The API server sends one object in a review, for a list too. It takes no object of more than 3 MiB, and escapes some characters with six
 * bytes. Anybody who reaches the port can send a review.
 */
const REVIEW_LIMIT = 4 * 1024 * 1024;
/** All reviews together, and their answers. */
const REVIEWS_LIMIT = 4 * REVIEW_LIMIT;

/** The HTTP API: it finds out who asks, lets the service act, and turns errors into answers. */
export function createApp(options: AppOptions): Koa {
  const { metrics, refusals } = options;
  const router = new Router();
  addAgentRoutes(router, options);
  addPublicRoutes(router, metrics);
  const app = new Koa();
  app.use(assignRequestId(options)).use(countRequests(options)).use(answerErrors(options));
  app.use(router.routes()).use(router.allowedMethods());
  app.on('error', (error) => refusals.noteBroken(error));
  return app;
}

function addPublicRoutes(router: Router, { registry }: Metrics): void {
  const bound = new MemoryBound(REVIEWS_LIMIT);
  router.post(PUBLIC_PATHS.crdConvert, async (context) => {
    const { req, res } = context;
    const holding = bound.hold((why) => {
      req.destroy(why);
      req.socket.destroy();
    });
    res.once('close', () => holding.release());
    const answer = Buffer.from(await converted(req, holding));
    holding.keep(answer.length);
    context.status = 200;
    context.respond = false;
    await writeJson(res, answer);
  });
  router.get(PUBLIC_PATHS.ping, (context) => {
    context.body = 'pong';
  });
  router.get(PUBLIC_PATHS.metrics, async (context) => {
    context.type = registry.contentType;
    context.body = await registry.metrics();
  });
}

/**
 * A review is always answered with a review, also where it cannot be read. @throws RefusedError 503 where it must give up its memory to
 * others
 */
async function converted(request: IncomingMessage, holding: Holding): Promise<string> {
  let head = '';
  const note = (chunk: Buffer): void => {
    holding.keep(chunk.length);
    if (head.length < HEAD_LENGTH) head += chunk.toString('latin1', 0, HEAD_LENGTH);
  };
  try {
    return convertBytes(await readBody(request, REVIEW_LIMIT, note));
  } catch (error) {
    if (!(error instanceof RefusedError) || error.reason === 'Busy') throw error;
    return unreadText(head, error.message);
  }
}
