/** The one way to the host's API: a unix socket in production, the simulated host itself in tests on virtual time. */
export interface HostTransport {
  /** @throws HostUnreachableError when no whole answer came in time */
  request(request: HostRequest): Promise<HostResponse>;
}

export interface HostRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** With the query, e.g. `/updates/status`. */
  readonly path: string;
  /** Text of a JSON body. Actions take none. */
  readonly body?: string;
  /** Milliseconds until the answer must be complete. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HostResponse {
  readonly status: number;
  readonly body: string;
}
