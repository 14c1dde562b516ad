import type { ApiRequest, Cause, Change, ResourceType, UserInfo } from '../sim/cluster/cluster.ts';
import { understand } from '../sim/cluster/request.ts';
import { at, text } from '../sim/cluster/object.ts';
import { Tally } from './tally.ts';
import type { Entry, Happening, Instant, SentEntry } from './types.ts';

/** Which process sent a request, and when. Every replica of a Deployment is the same user to the API server. */
export interface Sender {
  readonly by: string;
  readonly sentAt: Instant;
}

/** A request that says who sent it. The Kubernetes API knows nothing of it. */
export interface SentRequest extends ApiRequest {
  readonly sender?: Sender;
}

const GARBAGE_COLLECTOR = 'garbage-collector';

/** What happened in one run, told to `onEntry` as it happens. */
export class History {
  readonly entries: Entry[] = [];
  readonly #now: () => Instant;
  readonly #onEntry: (entry: Entry) => void;
  /** Requests that have changed something. */
  readonly #changing = new WeakSet<ApiRequest>();
  readonly #tally = new Tally();

  constructor(now: () => Instant, onEntry: (entry: Entry) => void = () => undefined) {
    this.#now = now;
    this.#onEntry = onEntry;
  }

  add(happening: Happening): void {
    const entry: Entry = { at: this.#now(), ...happening };
    this.entries.push(entry);
    this.#onEntry(entry);
  }

  /** For `onChange` of the cluster. */
  changed({ plural: resource }: Pick<ResourceType, 'plural'>, { before, after: last, removed, cause }: Change): void {
    const { name, namespace } = last.metadata;
    if (cause) this.#changing.add(cause.request);
    if (resource === 'pods') this.#tally.bind(last);
    const version = cause && versionIn(cause.request.body);
    const object = { resource, name, namespace, subresource: cause?.subresource, version };
    this.add({ kind: 'write', ...this.#authorOf(cause), ...object, before, after: removed ? undefined : last });
  }

  #authorOf(cause: Cause | undefined): Sender {
    const sent: SentRequest | undefined = cause?.request;
    return sent?.sender ?? { by: cause?.user.username ?? GARBAGE_COLLECTOR, sentAt: this.#now() };
  }

  /** A process has sent a request to the Kubernetes API, whatever becomes of it. */
  sent(request: SentRequest, by: string): void {
    this.#tell({ by, to: 'api', ...this.#tally.about(request) });
  }

  /** The agent of the node has sent one to an apiserver. */
  sentToApiserver(by: string, node: string | undefined): void {
    this.#tell({ by, to: 'apiserver', node, ofPods: false });
  }

  #tell(sent: Parameters<Tally['add']>[0]): void {
    const told: SentEntry | undefined = this.#tally.add(sent);
    if (told) this.add(told);
  }

  /** A request was answered with `code`, by the Kubernetes API or by something on the way. */
  answered(request: SentRequest, user: Pick<UserInfo, 'username'>, code: number): void {
    const { verb, resource } = understand(request);
    const by = request.sender?.by ?? user.username;
    const { plural = request.path, name, namespace, subresource } = resource ?? {};
    const about = { by, verb, resource: plural, name, namespace, subresource };
    const isVain = says(request.body) && !this.#changing.has(request);
    this.add({ kind: 'request', ...about, code, version: versionIn(request.body), isVain });
  }
}

/** Of what an object is to be. */
const says = (body: unknown): boolean =>
  at(body, 'spec') !== undefined ||
  at(body, 'status') !== undefined ||
  at(body, 'metadata', 'annotations') !== undefined;

/** Of one object. */
const versionIn = (body: unknown): string | undefined => text(at(body, 'metadata', 'resourceVersion')) || undefined;
