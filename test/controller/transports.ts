import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';

/** Ways to the cluster that are not as good as they should be. */

export const writesSpec = ({ method, body }: KubeRequest): boolean =>
  method === 'PATCH' && (body as { spec?: unknown }).spec !== undefined;
export const takesPermit = ({ method, path, body }: KubeRequest): boolean =>
  method === 'PUT' && path.includes('/leases/') && JSON.stringify(body).includes('nodeUid');

/** A transport whose watch of `path` says nothing. With `list`, each list of the whole collection says that. */
export function blindTo(path: string, transport: KubeTransport, list?: unknown): KubeTransport {
  const fills = ({ method, path: asked, query }: KubeRequest): boolean =>
    method === 'GET' && asked === path && query?.['limit'] !== undefined && query['fieldSelector'] === undefined;
  return {
    request: (request) => (list !== undefined && fills(request) ? Promise.resolve(list) : transport.request(request)),
    watch: (request) => (request.path === path ? silence(request.signal) : transport.watch(request)),
  };
}

async function* silence(signal: AbortSignal | undefined): AsyncGenerator<never> {
  await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  yield* [];
}

/** A transport that hands each request to `meet` first, which may hold it, drop it or let it go. */
export function intercepted(
  transport: KubeTransport,
  meet: (request: KubeRequest, go: () => Promise<unknown>) => Promise<unknown>,
): KubeTransport {
  return {
    request: (request) => meet(request, () => transport.request(request)),
    watch: (request) => transport.watch(request),
  };
}

/** The way to the cluster of a process that stops before a request in question, and goes on when it is told to: no signal reaches it. */
export function stopping(which: (request: KubeRequest) => boolean, to: () => KubeTransport) {
  let goOn: (() => void) | undefined;
  const transport: KubeTransport = {
    request: async (request) => {
      if (!which(request)) return to().request(request);
      await new Promise<void>((resolve) => (goOn = resolve));
      const { signal: _, ...unsignalled } = request;
      return to().request(unsignalled);
    },
    watch: (request) => to().watch(request),
  };
  return { transport, isStopped: () => goOn !== undefined, goOn: () => goOn?.() };
}
