import { ApiStatusError } from './errors.ts';
import type { KubeTransport } from './transport.ts';

/**
 * The same transport, which reports each request and watch that fails. One that its sender aborted has not failed.
 * @param failed gets the HTTP status, or `unreachable` where no answer came
 */
export function countingFailures(transport: KubeTransport, failed: (code: string) => void): KubeTransport {
  const report = (error: unknown, signal: AbortSignal | undefined): void => {
    if (!signal?.aborted) failed(error instanceof ApiStatusError ? String(error.status.code) : 'unreachable');
  };
  return {
    async request(request) {
      try {
        return await transport.request(request);
      } catch (error) {
        report(error, request.signal);
        throw error;
      }
    },
    async *watch(request) {
      try {
        yield* transport.watch(request);
      } catch (error) {
        report(error, request.signal);
        throw error;
      }
    },
  };
}
