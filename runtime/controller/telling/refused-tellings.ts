import { type ApiStatusError, wordsOf } from '../../kube/errors.ts';
import type { EventRecord, EventRecorder } from '../../kube/event-recorder.ts';
import { type Clock, rfc3339 } from '../../lib/clock.ts';
import { CONTROLLER_DEPLOYMENT, EVENTS_REFUSED_ANNOTATION, LEASE_REFUSED } from '../../api/shadow/names.ts';

/** Has a refused Lease told by an Event, and refused Events on the Lease. */
export const tellingRefusals = (
  { namespace, refusedEvents }: { readonly namespace: string; readonly refusedEvents: RefusedEvents },
  events: Pick<EventRecorder, 'record'>,
) => ({
  onRefused: (error: ApiStatusError): void => void events.record(leaseRefused(namespace, error)),
  annotations: () => refusedEvents.annotations(),
});

/** Says why no controller leads. */
const leaseRefused = (namespace: string, error: ApiStatusError): EventRecord => ({
  regarding: { apiVersion: 'apps/v1', kind: 'Deployment', name: CONTROLLER_DEPLOYMENT, namespace },
  type: 'Warning',
  reason: LEASE_REFUSED,
  message: `the Lease by which controllers elect a leader is refused: ${wordsOf(error)}`,
});

/** Keeps since when the API server refuses Events, where that can still be told: on the Lease. */
export class RefusedEvents {
  readonly #clock: Clock;
  #said: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param refusal undefined where an Event was taken */
  note(refusal: ApiStatusError | undefined): void {
    this.#said = refusal && (this.#said ?? `since ${rfc3339(this.#clock.now())}: ${wordsOf(refusal)}`);
  }

  annotations(): Readonly<Record<string, string | undefined>> {
    return { [EVENTS_REFUSED_ANNOTATION]: this.#said };
  }
}
