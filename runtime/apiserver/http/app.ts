import { setImmediate } from 'node:timers/promises';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import { FairLimiter } from '../../lib/fair-limiter.ts';
import type { Random } from '../../lib/random.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { convertBytes, HEAD_LENGTH, unreadText } from '../conversion.ts';
import type { Metrics } from '../metrics.ts';
import { PUBLIC_PATHS } from '../config.ts';
import { RefusedError } from '../refusal.ts';
import type { Service } from '../service.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { readBody, writeJson } from './body.ts';
import { boundMemory, keep } from './memory.ts';
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

/** The HTTP API: it finds out who asks, lets the service act, and turns errors into answers. */
export function createApp(options: AppOptions): Koa {
  const { refusals } = options;
  const router = new Router();
  addAgentRoutes(router, options);
  addPublicRoutes(router, options);
  const app = new Koa();
  app.use(assignRequestId(options)).use(countRequests(options));
  app.use(boundMemory(options)).use(answerErrors(options));
  app.use(router.routes()).use(router.allowedMethods());
  app.on('error', (error) => refusals.noteBroken(error));
  return app;
}

function addPublicRoutes(router: Router, { metrics: { registry }, clock }: AppOptions): void {
  // Both take the processor. An address that has had a turn pauses for as long as it took: probes, and requests of others, get through.
  const turns = new FairLimiter({ max: 1 });
  const paced = new FairLimiter({ max: Infinity, maxPerParty: 1 });
  const inTurn = <T>({ ip }: Context, make: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const work = async (): Promise<number> => {
        const began = clock.monotonic();
        resolve(await make());
        const tookMs = clock.monotonic() - began;
        await setImmediate();
        return tookMs;
      };
      const pace = async (): Promise<void> => {
        const tookMs = await turns.run(ip, work);
        if (tookMs > 0) await clock.sleep(tookMs);
      };
      paced.run(ip, pace).catch(reject);
    });
  router.post(PUBLIC_PATHS.crdConvert, async (context) => {
    const convert = await reviewed(context);
    const answer = await inTurn(context, async () => Buffer.from(convert()));
    keep(context, answer.length);
    context.status = 200;
    context.respond = false;
    await writeJson(context.res, answer);
  });
  router.get(PUBLIC_PATHS.ping, (context) => {
    context.body = 'pong';
  });
  router.get(PUBLIC_PATHS.metrics, async (context) => {
    context.type = registry.contentType;
    context.body = await inTurn(context, () => registry.metrics());
  });
}

/**
 * What answers the review in the body. It is answered with a review also where it cannot be read. @throws RefusedError 503 where it must make
 * way for others
 */
async function reviewed(context: Context): Promise<() => string> {
  let head = '';
  const note = (chunk: Buffer): void => {
    if (head.length < HEAD_LENGTH) head += chunk.toString('latin1', 0, HEAD_LENGTH);
  };
  try {
    const body = await readBody(context, REVIEW_LIMIT, note);
    return () => convertBytes(body);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.reason === 'Busy') throw error;
    const { message } = error;
    return () => unreadText(head, message);
  }
}
