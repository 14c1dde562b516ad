import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { BusyError, UnreachableError } from './errors.ts';
import { type KubeRequest, type KubeTransport, type KubeWatch, REQUEST_TIMEOUT_MS } from './transport.ts';

/** Nothing is asked for again later than this after it was first asked for. A request that has less time gets no more. */
const PATIENCE_MS = 10_000;
/** Pauses where the API server does not say how long to wait: nobody listens there, as while it restarts. */
const PAUSE = { firstMs: 250, maxMs: 2000 };
/**
 * By how much of the pause that was asked for each comes. Before its end come the Lease, since who does not renew it in time leaves everything to
 * another, and it is one small request; then drains and releases, each of them dozens of requests in turn while a node is out of service. After
 * its end comes all else, apart from each other.
 */
const ORDER = {
  lease: () => 0.5,
  drain: (random: Random) => 0.6 + 0.2 * random(),
  other: (random: Random) => 1 + 0.2 * random(),
};

interface AskingAgainOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whatever it asks is part of a drain or of a release. @default writes to Nodes are */
  readonly drains?: boolean | undefined;
  /** Milliseconds that a request may take that says nothing of it. @default REQUEST_TIMEOUT_MS */
  readonly timeoutMs?: number | undefined;
}

/**
 * The same transport, which asks again for what was certainly not carried out: the API server said that it is too busy to look at it, or refused
 * the connection. That request alone is asked for again, so a chain of requests does not begin anew with each of them. What is urgent comes first.
 * A request that is `slow` is asked for again by who queues it, who knows whether it is still wanted.
 */
export function askingAgain(transport: KubeTransport, options: AskingAgainOptions): KubeTransport {
  const { clock, drains = false, timeoutMs: usualMs = REQUEST_TIMEOUT_MS } = options;
  return {
    async request(request) {
      const { slow, signal, timeoutMs = usualMs } = request;
      if (slow) return transport.request({ ...request, timeoutMs });
      const began = clock.monotonic();
      const asked = { signal, rank: rankOf(request, drains), end: began + Math.min(PATIENCE_MS, timeoutMs) };
      let left = timeoutMs;
      for (let failures = 0; ; failures++) {
        try {
          return await transport.request({ ...request, timeoutMs: left });
        } catch (error) {
          await pause({ ...asked, failures }, error, options);
          left = timeoutMs - (clock.monotonic() - began);
        }
      }
    },
    async *watch(watch) {
      const rank = drains ? 'drain' : 'other';
      const asked = { signal: watch.signal, rank, end: clock.monotonic() + PATIENCE_MS } as const;
      for (let failures = 0; ; failures++) {
        let isOpen = false;
        try {
          yield* transport.watch(noting(watch, () => (isOpen = true)));
          return;
        } catch (error) {
          if (isOpen) throw error;
          await pause({ ...asked, failures }, error, options);
        }
      }
    },
  };
}

/** Waits until it may be asked for again. @throws `error` where it may not */
async function pause(asked: Asked, error: unknown, { clock, random }: AskingAgainOptions): Promise<void> {
  const waited = askedPauseMs(error) ?? backoff(asked.failures, { ...PAUSE, random });
  const ms = waited * ORDER[asked.rank](random);
  if (!isNotCarriedOut(error) || asked.signal?.aborted || clock.monotonic() + ms >= asked.end) throw error;
  await clock.sleep(ms, asked.signal).catch(() => {
    throw error;
  });
}

interface Asked {
  readonly signal: AbortSignal | undefined;
  readonly rank: keyof typeof ORDER;
  /** When it is no longer asked for again, monotonic. */
  readonly end: number;
  readonly failures: number;
}

function noting(watch: KubeWatch, opened: () => void): KubeWatch {
  return {
    ...watch,
    onOpen: () => {
      opened();
      watch.onOpen?.();
    },
  };
}

const LEASES = '/apis/coordination.k8s.io/';
const NODES = '/api/v1/nodes/';

/** Evictions, which are `slow`, come back when they may and no later. */
function rankOf({ method, path }: KubeRequest, drains: boolean): keyof typeof ORDER {
  if (path.startsWith(LEASES)) return 'lease';
  return drains || (method !== 'GET' && path.startsWith(NODES)) ? 'drain' : 'other';
}

function isNotCarriedOut(error: unknown): boolean {
  return error instanceof BusyError || (error instanceof UnreachableError && error.isUnsent);
}

function askedPauseMs(error: unknown): number | undefined {
  const seconds = error instanceof BusyError ? error.status.details?.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * 1000;
}
