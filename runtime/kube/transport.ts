/**
 * The one way to the Kubernetes API: a request goes out, JSON comes back. Everything typed is built on top of it. A process runs unchanged
 * over HTTPS (`https.ts`) and, in a simulation, directly on the embedded cluster.
 */
export interface KubeTransport {
  /**
   * @throws ApiStatusError (its subclass by status) when the API server answered with an error;
   * UnreachableError when no answer came: a write may or may not have taken effect, unless it `isUnsent`.
   */
  request(request: KubeRequest): Promise<unknown>;
  /** Watch events in order, until the server ends the stream or the signal aborts. Errors as in `request`. */
  watch(request: KubeWatch): AsyncIterable<WatchEvent>;
}

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path, e.g. `/api/v1/nodes/n1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The answer is plain text, e.g. a pod's log, and comes as a string. @default false: JSON */
  readonly text?: boolean;
  /** Defaults to `application/json`; a PATCH names its patch type. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** Milliseconds until an answer must be complete; default REQUEST_TIMEOUT_MS. */
  readonly timeoutMs?: number;
  /**
   * True where an administrator's admission webhooks may delay the answer for long. Such requests have connections of their own, so that no
   * other request waits behind them.
   */
  readonly slow?: boolean;
  /** Called with the time of the API server's clock as the answer states it: milliseconds since the Unix epoch, in whole seconds. */
  readonly onDate?: (date: number) => void;
}

/** Milliseconds until an answer must be complete, where the request does not say. */
export const REQUEST_TIMEOUT_MS = 30_000;

/** Most requests on their way at once, apart from watches and requests that are `slow`. */
export const MAX_REQUESTS = 64;

/**
 * Most requests that are `slow` on their way at once. A caller that may want more has to queue them itself: one that waits in the transport
 * counts as sent, and the time for its answer runs.
 */
export const MAX_SLOW_REQUESTS = 128;

export interface KubeWatch {
  readonly path: string;
  /** `watch=true` is added by the transport. */
  readonly query?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Milliseconds without any event after which the stream counts as dead; default 180,000. */
  readonly inactivityMs?: number;
  /** Called once the API server has answered that the watch begins: from then on each change comes as an event. */
  readonly onOpen?: () => void;
}

export interface WatchEvent<T = unknown> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}
