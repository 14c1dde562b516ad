import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { askingAgain } from '../../../runtime/kube/asking-again.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import type {
  ApiRequest,
  ApiResponse,
  AuditEntry,
  PlainResponse,
  ServiceDialer,
  UserInfo,
  WebhookDialer,
} from './api.ts';
import { Audit } from './audit.ts';
import type { Change } from './collection.ts';
import { Bookmarks } from './bookmarks.ts';
import type { Core } from './core.ts';
import { Converter } from './crd/conversion.ts';
import { seed } from './defaults.ts';
import { type Disturbance, type Disturbed, Disturbances } from './disturbances.ts';
import { follow } from './lifecycle.ts';
import { Lists } from './list.ts';
import { metaPath } from './meta-paths.ts';
import { Operations } from './operations.ts';
import type { ResourcePath } from './path.ts';
import { denial, Rights } from './rbac.ts';
import { Registry } from './registry.ts';
import type { ResourceType } from './resources.ts';
import { attributes, type Call, understand } from './request.ts';
import { forbidden, internal, noEndpoints, noSuchPath, statusBody, StatusError } from './status.ts';
import { Store } from './store.ts';
import { Tokens } from './tokens.ts';
import { InProcessTransport } from './transport.ts';

export type { Cause, Change } from './collection.ts';
export type { Disturbance, Disturbed } from './disturbances.ts';
export type { ResourceType } from './resources.ts';
export {
  ADMIN,
  type ApiRequest,
  type ApiResponse,
  type AuditEntry,
  type UserInfo,
  type WebhookCall,
  type WebhookDialer,
} from './api.ts';

export interface ClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Since when what is created now is there, milliseconds since the Unix epoch. @default now */
  readonly createdAt?: Core['createdAt'];
  /** Dials conversion webhooks; without it a conversion by webhook fails. */
  readonly webhooks?: WebhookDialer;
  /** At least so many requests are kept in `audit`. @default 20,000 */
  readonly auditLimit?: number;
  /** Told of each request when it has been answered; of a watch when it has begun. */
  readonly onAudit?: (entry: AuditEntry) => void;
  /** Told of each change within the write that makes it, before what follows from it. Its objects never change. */
  readonly onChange?: (type: ResourceType, change: Change) => void;
}

/**
 * A Kubernetes API in memory, on the clock it is given. Each write is one synchronous step within `handle()`, what follows from it
 * (garbage collection, namespaces, CRDs) included; only a conversion webhook makes a request wait.
 */
export class EmbeddedCluster {
  readonly #core: Core;
  readonly #tokens: Tokens;
  readonly #lists: Lists;
  readonly #operations: Operations;
  readonly #audit: Audit;
  readonly #disturbances = new Disturbances();
  readonly #rights = new Rights();
  #dialService: ServiceDialer | undefined;

  constructor(options: ClusterOptions) {
    const { clock, random, createdAt = () => clock.now(), webhooks, auditLimit = 20_000, onAudit, onChange } = options;
    const core: Core = {
      clock,
      random,
      createdAt,
      registry: new Registry(),
      converter: new Converter(random, webhooks),
      bookmarks: new Bookmarks(clock),
      store: new Store((type, change) => {
        this.#rights.changed(type);
        onChange?.(type, change);
        follow(core, type, change);
      }),
    };
    this.#core = core;
    this.#tokens = new Tokens(core);
    this.#lists = new Lists(core);
    this.#operations = new Operations(core, { tokens: this.#tokens, lists: this.#lists });
    this.#audit = new Audit(auditLimit, onAudit);
    seed(core);
  }

  /** Requests in the order in which they were answered, the newest last. */
  get audit(): readonly AuditEntry[] {
    return this.#audit.entries;
  }

  setWebhooks(dial: WebhookDialer): void {
    this.#core.converter.setWebhooks(dial);
  }

  /** Dials Services for who asks the API server to. */
  setServices(dial: ServiceDialer): void {
    this.#dialService = dial;
  }

  /** Forgets all changes so far, as a compaction of etcd: watches and lists that want to go on from before get 410. */
  compact(): void {
    this.#core.store.compact();
    this.#lists.forget();
  }

  /** The resourceVersion of the newest write. */
  get version(): number {
    return this.#core.store.version;
  }

  /** Restores etcd from a backup that was made at `version`, as Kubernetes does: all of the API starts anew. No CRD may be younger. */
  restore(version: number): void {
    this.#core.store.rewind(version);
    this.#lists.forget();
  }

  /** Puts something in the way of requests; what is returned takes it away. */
  disturb(disturbed: Disturbed, disturbance: Disturbance): () => void {
    return this.#disturbances.add(disturbed, disturbance);
  }

  /** The API as `user`'s client sees it. */
  transport(user: UserInfo): KubeTransport {
    const { clock, random } = this.#core;
    const wire = new InProcessTransport((request, by) => this.handle(request, by), { user, clock });
    return askingAgain(wire, { clock, random });
  }

  /** The bearer of a service account token for this API; undefined where it is not valid. */
  authenticateToken(token: string): UserInfo | undefined {
    const verdict = this.#tokens.review(token, []);
    return typeof verdict === 'string' ? undefined : verdict.user;
  }

  /** Answers a request. Never rejects: a refusal is a response with a `Status`. */
  async handle(request: ApiRequest, user: UserInfo): Promise<ApiResponse> {
    const call = understand(request);
    const response = await this.#answer(call, user);
    this.#audit.add(auditEntry(call, { at: this.#core.clock.now(), user: user.username, code: response.status }));
    return response;
  }

  async #answer(call: Call, user: UserInfo): Promise<ApiResponse> {
    try {
      this.#authorize(call, user);
      if (this.#disturbances.any) await this.#disturbances.pass(call);
      if (!call.resource) return metaPath(this.#core.registry, call.request.method, call.request.path);
      return await this.#operate(call, call.resource, user);
    } catch (error) {
      return refused(error instanceof StatusError ? error : internal(String(error)));
    }
  }

  #authorize(call: Call, user: UserInfo): void {
    const asked = attributes(call);
    if (this.#rights.allow(this.#core.store, user, asked)) return;
    const { group = '', version = '', plural = '', name = '' } = call.resource ?? {};
    const why = denial(user, asked);
    if (!call.resource)
      throw new StatusError({ code: 403, reason: 'Forbidden', message: `forbidden: ${why}`, details: {} });
    throw forbidden({ type: { group, version, plural, singular: '', kind: '', namespaced: false }, name }, why);
  }

  #operate(
    call: Call,
    { namespace, name = '', subresource, ...resource }: ResourcePath,
    user: UserInfo,
  ): Promise<ApiResponse> {
    if (resource.plural === 'services' && subresource === 'proxy') return this.#proxy(call, { namespace, name });
    const type = this.#core.registry.find(resource);
    // A namespaced object has a path within its namespace only; lists and watches reach across.
    const acrossNamespaces = ['list', 'watch'].includes(call.verb);
    if (!type || (namespace === undefined && type.namespaced && !acrossNamespaces)) throw noSuchPath();
    if (namespace !== undefined && !type.namespaced) throw noSuchPath();
    return this.#operations.run({ ...call, type, user, target: { type, namespace, name, subresource } });
  }

  #proxy({ request }: Call, { namespace = '', name }: { namespace: string | undefined; name: string }) {
    if (!this.#dialService) throw noEndpoints(name);
    return this.#dialService({ namespace, name, path: request.path.replace(/^.*?\/proxy/, '') });
  }
}

function refused({ status, text }: StatusError): PlainResponse {
  const wait = status.details?.retryAfterSeconds;
  const headers = wait === undefined ? {} : { 'retry-after': String(wait) };
  return { status: status.code, body: text ?? statusBody(status), headers };
}

function auditEntry(
  { request, resource, verb }: Call,
  answered: { at: number; user: string; code: number },
): AuditEntry {
  const userAgent = request.headers?.['user-agent'];
  const { version: _, plural = request.path, group = '', ...where } = resource ?? { version: '' };
  return { ...answered, verb, group, resource: plural, ...where, ...(userAgent !== undefined && { userAgent }) };
}
