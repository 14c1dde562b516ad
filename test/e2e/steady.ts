import { ApiStatusError } from '../../runtime/kube/errors.ts';
import type { KubeTransport, KubeWatch, WatchEvent } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';

const PAUSE_MS = 100;

/**
 * A transport whose watches are begun again when they are refused: after each change of a CRD the API server answers 429 for its
 * objects until it has set up their storage anew.
 */
export function steady(transport: KubeTransport): KubeTransport {
  return { request: (request) => transport.request(request), watch: (watch) => persistent(transport, watch) };
}

async function* persistent(transport: KubeTransport, watch: KubeWatch): AsyncGenerator<WatchEvent, void> {
  while (!watch.signal?.aborted) {
    try {
      yield* transport.watch(watch);
    } catch (error) {
      if (!(error instanceof ApiStatusError)) throw error;
      await systemClock.sleep(PAUSE_MS);
    }
  }
}
