import type { KubeStatus } from '../../../runtime/kube/errors.ts';
import type { Call } from './request.ts';
import { StatusError, turnedAway } from './status.ts';

/** Requests by what they are about: each field that is named has to be equal. An absent subresource of a resource names the object itself. */
export interface Disturbed {
  /** @default every write */
  readonly verbs?: readonly string[];
  /** Plural, e.g. `bottlerocketshadows`. @default any, and each subresource */
  readonly resource?: string;
  readonly subresource?: string;
  /** As the path names it: none for a creation. */
  readonly name?: string;
  /** What their body has to be like, as a webhook's match conditions would say it. @default anything */
  readonly where?: (body: unknown) => boolean;
}

/** What becomes of them, as a policy or a webhook of admission would have it. */
export type Disturbance =
  /** Refused before anything is done, with 4xx for good or with 5xx as where a webhook fails. */
  | ({ readonly kind: 'refuse' } & KubeStatus)
  /** Turned away by priority and fairness, in plain text, before anything looks at it. */
  | { readonly kind: 'busy' }
  /** Not answered for as long as it lasts, and carried out then, whether or not anybody still waits. */
  | { readonly kind: 'hang' };

const WRITES: readonly string[] = ['create', 'update', 'patch', 'delete'];

/** What stands in the way of requests that are allowed, until it is taken away. */
export class Disturbances {
  readonly #standing = new Set<{ readonly fits: (call: Call) => boolean; readonly meet: () => Promise<void> }>();

  /** Returns what ends it. */
  add(disturbed: Disturbed, disturbance: Disturbance): () => void {
    const over = Promise.withResolvers<void>();
    const meet = async (): Promise<void> => {
      if (disturbance.kind === 'hang') return over.promise;
      if (disturbance.kind === 'busy') throw turnedAway();
      const { kind: _, ...status } = disturbance;
      throw new StatusError(status);
    };
    const one = { fits: fitting(disturbed), meet };
    this.#standing.add(one);
    return () => {
      this.#standing.delete(one);
      over.resolve();
    };
  }

  /** Resolves when nothing stands in the way. @throws StatusError */
  async pass(call: Call): Promise<void> {
    for (const { fits, meet } of this.#standing) if (fits(call)) await meet();
  }

  get any(): boolean {
    return this.#standing.size > 0;
  }
}

function fitting({ verbs = WRITES, resource, subresource, name, where }: Disturbed): (call: Call) => boolean {
  return ({ verb, resource: asked, request: { body } }) =>
    verbs.includes(verb) &&
    (resource === undefined || (asked?.plural === resource && asked.subresource === subresource)) &&
    (name === undefined || asked?.name === name) &&
    (where === undefined || where(body));
}
