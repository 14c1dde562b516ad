import { ApiStatusError } from '../../../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport } from '../../../../runtime/kube/transport.ts';
import type { Clock } from '../../../../runtime/lib/clock.ts';
import type { Random } from '../../../../runtime/lib/random.ts';
import { backoff } from '../../../../runtime/lib/retry.ts';

const RETRY = { firstMs: 200, maxMs: 10_000 };
/** Asking again changes nothing about these. */
const FINAL = new Set([400, 403, 404, 409, 422]);

export interface ApiAccess {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Sends a request until the API server has answered it for good.
 * @throws ApiStatusError for an answer that asking again would not change; the signal's reason when it aborts
 */
export async function insist({ transport, clock, random }: ApiAccess, request: KubeRequest): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await transport.request(request);
    } catch (error) {
      if (error instanceof ApiStatusError && FINAL.has(error.status.code)) throw error;
      await clock.sleep(backoff(attempt, { ...RETRY, random }), request.signal);
    }
  }
}
