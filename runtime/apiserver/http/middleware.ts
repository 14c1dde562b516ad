import type { Context, Middleware } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { Fields } from '../../lib/log.ts';
import { shortened } from '../../lib/parts.ts';
import { type Random, randomId } from '../../lib/random.ts';
import type { Metrics } from '../metrics.ts';
import { HEADERS, type RefusalBody, type RefusalReason } from '../../api/agent/protocol.ts';
import { RefusedError, toRefusal } from '../refusal.ts';
import type { RefusalLog } from './refusal-log.ts';

const REQUEST_ID = 'X-Request-Id';
/** Bytes: a node's name has 253 at most. */
const LONGEST = 256;

/** Gives each request an identity, which its answer and its log lines carry. */
export function assignRequestId({ random }: { readonly random: Random }): Middleware {
  return async (context, next) => {
    context.set(REQUEST_ID, randomId(random));
    await next();
  };
}

/** The identity that a request was given. */
export function requestId({ response }: Context): string {
  return response.get(REQUEST_ID);
}

/** Counts answers by route template, so that the paths of a stranger cannot multiply the series. */
export function countRequests({ metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }): Middleware {
  return async (context, next) => {
    const began = clock.monotonic();
    await next();
    const route = context['_matchedRoute'] === undefined ? 'unknown' : String(context['_matchedRoute']);
    const method = route === 'unknown' ? 'unknown' : context.method;
    metrics.requests.inc({ method, route, code: context.status });
    metrics.duration.observe({ method, route }, (clock.monotonic() - began) / 1000);
  };
}

/** The one place where errors become answers. */
export function answerErrors({ refusals }: { readonly refusals: RefusalLog }): Middleware {
  return async (context, next) => {
    try {
      await next();
      if (context.status >= 400) throw routing(context.status);
    } catch (error) {
      refuse(context, refusals, toRefusal(error));
    }
  };
}

/** Answers with the refusal. */
export function refuse(context: Context, refusals: RefusalLog, refusal: RefusedError): void {
  const { status, reason, message } = refusal;
  context.status = status;
  context.body = { error: message, reason } satisfies RefusalBody;
  // What is left of a body that nobody will read must not be taken for the next request.
  if (status === 413 || reason === 'Busy') context.set('Connection', 'close');
  refusals.note('request refused', refusal, () => asked(context));
}

/** Who asked for what. It is shortened for the log, because the sender alone decides how long these texts are. */
function asked(context: Context): Fields {
  const { method, path } = context;
  const node = context.get(HEADERS.nodeName);
  const request = requestId(context);
  return { method, path: shortened(path, LONGEST), request, node: shortened(node, LONGEST) };
}

/** The router's own refusals: no such path, or not by this method. */
function routing(status: number): RefusedError {
  const reason: RefusalReason = status === 404 ? 'NotFound' : 'BadRequest';
  return new RefusedError(status, reason, status === 404 ? 'no such path' : 'not by this method');
}
