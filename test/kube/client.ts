import { apiStatusError, type ApiStatusError, type KubeStatus } from '../../runtime/kube/errors.ts';
import type { KubeTransport, WatchEvent } from '../../runtime/kube/transport.ts';
import type { KubeJson } from '../../lab/sim/cluster/object.ts';

export interface ListOf {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly KubeJson[];
}

type Query = Readonly<Record<string, string>>;

/** A client with short names for what the tests do all the time. */
export class Client {
  readonly transport: KubeTransport;

  constructor(transport: KubeTransport) {
    this.transport = transport;
  }

  get(path: string): Promise<KubeJson> {
    return this.transport.request({ method: 'GET', path }) as Promise<KubeJson>;
  }

  list(path: string, query: Query = {}): Promise<ListOf> {
    return this.transport.request({ method: 'GET', path, query }) as Promise<ListOf>;
  }

  create(path: string, body: object, query: Query = {}): Promise<KubeJson> {
    return this.transport.request({ method: 'POST', path, body, query }) as Promise<KubeJson>;
  }

  put(path: string, body: object): Promise<KubeJson> {
    return this.transport.request({ method: 'PUT', path, body }) as Promise<KubeJson>;
  }

  patch(path: string, body: unknown, contentType = 'application/merge-patch+json'): Promise<KubeJson> {
    return this.transport.request({ method: 'PATCH', path, body, contentType }) as Promise<KubeJson>;
  }

  delete(path: string, body?: object, query: Query = {}): Promise<KubeJson> {
    return this.transport.request({ method: 'DELETE', path, body, query }) as Promise<KubeJson>;
  }

  /** Collects a watch's events until the signal aborts or the cluster ends it; `ended` says whether it has. */
  watch(path: string, query: Query = {}): { readonly events: WatchEvent<KubeJson>[]; ended: boolean; stop(): void } {
    const abort = new AbortController();
    const seen = { events: [] as WatchEvent<KubeJson>[], ended: false, stop: () => abort.abort() };
    const read = async (): Promise<void> => {
      for await (const event of this.transport.watch({ path, query, signal: abort.signal })) {
        seen.events.push(event as WatchEvent<KubeJson>);
      }
      seen.ended = true;
    };
    void read();
    return seen;
  }
}

/** The refusal that `promise` ends with. */
export async function refusal(promise: Promise<unknown>): Promise<KubeStatus> {
  try {
    await promise;
  } catch (error) {
    return (error as ApiStatusError).status;
  }
  throw apiStatusError('a request that should have been refused', { code: 200 });
}

/** `ADDED web-1` for each event; a bookmark is only that. */
export function told(events: readonly WatchEvent<KubeJson>[]): string[] {
  return events.map(({ type, object }) => (type === 'BOOKMARK' ? type : `${type} ${object.metadata?.name ?? ''}`));
}

export function listNames({ items }: ListOf): string[] {
  return items.map(({ metadata }) => metadata.name);
}
