import type { WatchEvent } from '../../../runtime/kube/transport.ts';

/** Who asks. Groups decide as in Kubernetes; `system:masters` may do everything. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const ADMIN: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** One request as it would be on the wire, its body parsed. */
export interface ApiRequest {
  readonly method: string;
  /** Absolute path without the query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case; `accept`, `content-type` and `user-agent` are read. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type ApiResponse = PlainResponse | StreamResponse;

export interface PlainResponse {
  readonly status: number;
  /** JSON; text for the health endpoints, and where nothing is served. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StreamResponse {
  readonly status: 200;
  readonly stream: EventStream;
}

/** Watch events in order. The watch is registered before the first is read, so it must be closed or iterated to its end. */
export interface EventStream extends AsyncIterable<WatchEvent> {
  close(): void;
}

/** One line per request, refusals included. */
export interface AuditEntry {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly user: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; the HTTP method in lower case for other paths. */
  readonly verb: string;
  readonly group: string;
  /** Plural of the resource; the path itself for requests that name none. */
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** HTTP status of the answer. */
  readonly code: number;
  readonly userAgent?: string;
}

/** Asks a Service through the API server: GET of `path`. `name` may say scheme and port, as `http:name:port`. */
export interface ServiceDialer {
  (service: { readonly namespace: string; readonly name: string; readonly path: string }): Promise<PlainResponse>;
}

/** Calls a conversion webhook: POST of `body` to the service, the JSON answer back. Rejects when there is none in time. */
export interface WebhookDialer {
  (call: WebhookCall): Promise<unknown>;
}

export interface WebhookCall {
  readonly service: {
    readonly namespace: string;
    readonly name: string;
    readonly port: number;
    readonly path: string;
  };
  /** PEM in base64, as in the CRD. */
  readonly caBundle?: string;
  readonly body: unknown;
  readonly timeoutMs: number;
}
