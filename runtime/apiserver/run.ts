import { hostname } from 'node:os';
import { NAMESPACE } from '../api/shadow/names.ts';
import { connect } from '../kube/kubeconfig.ts';
import { userAgent } from '../kube/https.ts';
import { unlessAborted, withDeadline } from '../lib/abort.ts';
import { probeRoutes, serveHttp } from '../lib/http.ts';
import type { ProcessContext } from '../lib/process.ts';
import { type Apiserver, createApiserver } from './apiserver.ts';
import { type ApiserverConfig, PUBLIC_PATHS } from './config.ts';
import { serveTls, type TlsServer } from './serve.ts';
import { type ServingCertificate, servingCertificates } from './tls.ts';

/**
 * How long it continues to serve after it was asked to end, because others may still send requests here. The Kubernetes API tries no second
 * replica when a conversion fails.
 */
const SERVE_ON_MS = 3_000;
/** How long requests may go on after that; drains are answered "ask again" at once. */
const GRACE_MS = 5_000;
/** How long evictions that were sent may take after that. They wait for webhooks, which have ten seconds by default. */
const EVICTIONS_MS = 12_000;

/** The apiserver as a process: until the signal aborts, it serves the API with whatever certificate is in place. */
export async function runApiserver(config: ApiserverConfig, context: ProcessContext): Promise<void> {
  const { transport, namespace } = await connect(
    { ...config, namespace: NAMESPACE },
    { userAgent: userAgent('apiserver'), drains: true },
  );
  const apiserver = createApiserver({ ...context, transport, namespace, config, instance: hostname() });
  const serving = new Serving(config, context, apiserver);
  const { registry } = apiserver.metrics;
  const metrics = async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() });
  const routes = { ...probeRoutes(() => serving.isReady()), [PUBLIC_PATHS.metrics]: metrics };
  const over = new AbortController();
  try {
    await serveHttp({ port: config.HTTP_PORT, routes, logger: context.logger, signal: over.signal });
    await serving.run();
  } finally {
    over.abort();
  }
}

class Serving {
  readonly #config: ApiserverConfig;
  readonly #context: ProcessContext;
  readonly #apiserver: Apiserver;
  #server: TlsServer | undefined;
  #certificate: ServingCertificate | undefined;

  constructor(config: ApiserverConfig, context: ProcessContext, apiserver: Apiserver) {
    this.#config = config;
    this.#context = context;
    this.#apiserver = apiserver;
  }

  /** It listens, its certificate has not expired, and it was not asked to end. */
  isReady(): boolean {
    const { clock, signal } = this.#context;
    return this.#server !== undefined && !signal.aborted && clock.now() < (this.#certificate?.expires ?? 0);
  }

  async run(): Promise<void> {
    const {
      TLS_DIR: dir,
      APISERVER_INTERNAL_PORT: port,
      REQUIRE_CLIENT_CERTIFICATE: clientCertificates,
    } = this.#config;
    const { clock, logger, signal } = this.#context;
    const { metrics, handle, guard, service } = this.#apiserver;
    for await (const certificate of servingCertificates({ dir, clientCertificates, clock, logger, metrics, signal })) {
      this.#certificate = certificate;
      if (this.#server) this.#server.use(certificate);
      else {
        this.#server = await serveTls({ handle, guard, port, certificate });
        logger.info('listening', { port: this.#server.port });
      }
    }
    await shutDown({ clock, service, ...(this.#server && { server: this.#server }) });
  }
}

interface ShutDownOptions extends Pick<ProcessContext, 'clock'> {
  readonly service: Pick<Apiserver['service'], 'close' | 'settled'>;
  /** Undefined where it has not listened yet. */
  readonly server?: Pick<TlsServer, 'close'>;
}

/** Continues to serve for a while. Then ends drains, and waits for the requests that are under way. */
export async function shutDown({ clock, service, server }: ShutDownOptions): Promise<void> {
  if (server) await clock.sleep(SERVE_ON_MS);
  service.close();
  const bound = { clock, ms: EVICTIONS_MS };
  const answered = withDeadline(bound, (late) => unlessAborted(service.settled(), late)).catch(() => undefined);
  await Promise.all([answered, server?.close(clock, GRACE_MS)]);
}
