import type { ApiRequest, Change, ResourceType, UserInfo } from '../../sim/cluster/cluster.ts';
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
  changed({ plural }: Pick<ResourceType, 'plural'>, { before, after, removed, cause }: Change): void {
    const { name, namespace } = after.metadata;
    const sender = cause && (cause.request as SentRequest).sender;
    this.add({
      kind: 'write',
      by: sender?.by ?? cause?.user.username ?? GARBAGE_COLLECTOR,
      sentAt: sender?.sentAt ?? this.#now(),
      resource: plural,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(cause?.subresource !== undefined && { subresource: cause.subresource }),
      ...(before && { before }),
      ...(!removed && { after }),
    });
  }

  /** A request was answered with `code`, by the Kubernetes API or by something on the way. */
  answered(request: SentRequest, user: Pick<UserInfo, 'username'>, code: number): void {
    const { verb, resource } = understand(request);
    const { plural = request.path, name, namespace, subresource } = resource ?? {};
    this.add({
      kind: 'request',
      by: request.sender?.by ?? user.username,
      verb,
      resource: plural,
      code,
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(subresource !== undefined && { subresource }),
    });
  }
}
