import type { ApiRequest, Cause, Change, ResourceType, UserInfo } from '../../sim/cluster/cluster.ts';
import { understand } from '../../sim/cluster/request.ts';
import type { Entry, Happening, Instant } from './types.ts';

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
    const object = { resource, name, namespace, subresource: cause?.subresource };
    this.add({ kind: 'write', ...this.#authorOf(cause), ...object, before, after: removed ? undefined : last });
  }

  #authorOf(cause: Cause | undefined): Sender {
    const sent: SentRequest | undefined = cause?.request;
    return sent?.sender ?? { by: cause?.user.username ?? GARBAGE_COLLECTOR, sentAt: this.#now() };
  }

  /** A request was answered with `code`, by the Kubernetes API or by something on the way. */
  answered(request: SentRequest, user: Pick<UserInfo, 'username'>, code: number): void {
    const { verb, resource } = understand(request);
    const by = request.sender?.by ?? user.username;
    const { plural = request.path, name, namespace, subresource } = resource ?? {};
    this.add({ kind: 'request', by, verb, resource: plural, name, namespace, subresource, code });
  }
}
