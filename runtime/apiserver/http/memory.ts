import type { Context, Middleware } from 'koa';
import type { RefusalBody } from '../../api/agent/protocol.ts';
import { FairLimiter, type Holding } from '../../lib/fair-limiter.ts';
import { RefusedError } from '../refusal.ts';
import { refuse } from './middleware.ts';
import type { RefusalLog } from './refusal-log.ts';

/** Bodies and answers of all requests together. */
const MAX_BYTES = 16 * 1024 * 1024;
const BUSY = new RefusedError(503, 'Busy', 'too many large requests at once; ask again');

/**
 * Counts what requests keep in memory, until their clients have read the answers. Where that is too much, the oldest request of the address
 * that keeps the most is ended: a client as fast as the API server is never the oldest for long, and one that stalls keeps nobody out.
 */
export function boundMemory({ refusals }: { readonly refusals: RefusalLog }): Middleware {
  const bytes = new FairLimiter({ max: MAX_BYTES });
  return async (context, next) => {
    const { req, res, ip } = context;
    const holding = bytes.hold(ip, () => {
      if (req.complete) refusals.note('connection refused', BUSY);
      req.destroy(BUSY);
      req.socket.destroy();
    });
    res.once('close', () => holding.release());
    context.state['holding'] = holding;
    await next();
    if (context.respond === false || holding.add(context.length ?? 0)) return;
    // An answer that says so already is short.
    if ((context.body as Partial<RefusalBody> | undefined)?.reason !== BUSY.reason) refuse(context, refusals, BUSY);
  };
}

/** @throws RefusedError 503 where the request has to make way for others */
export function keep({ state }: Context, bytes: number): void {
  if (!(state['holding'] as Holding).add(bytes)) throw BUSY;
}
