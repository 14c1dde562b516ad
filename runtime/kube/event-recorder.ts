import { BoundedMap } from '../lib/bounded-map.ts';
import { type Clock, rfc3339 } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { shortened } from '../lib/parts.ts';
import { ApiStatusError, ConflictError, NotFoundError } from './errors.ts';
import type { ObjectReference } from './objects.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** Something that people should see in `kubectl describe`. */
export interface EventRecord {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** One word, e.g. `DrainBlocked`. */
  readonly reason: string;
  /** One sentence, shortened to 1,024 bytes. */
  readonly message: string;
  /**
   * Part of the Event's name (lower case, digits, `-` and `.`). The same object and occasion have one Event, whichever process records it
   * and however often.
   */
  readonly occasion?: string;
}

export interface EventRecorder {
  /**
   * Resolves with whether the cluster has the Event now. Never rejects: an Event that cannot be written is a line in the log. The same record
   * again counts up the Event that there is, unless it has an occasion.
   */
  record(event: EventRecord): Promise<boolean>;
}

interface EventRecorderOptions {
  /** e.g. `brupop-controller`. */
  readonly component: string;
  /** Name of the pod. */
  readonly instance: string;
  /** Called after each try: with what the API server refused it with, or undefined once it has taken one. */
  readonly onAnswer?: ((refusal: ApiStatusError | undefined) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The Events of Node objects, which have no namespace, are kept here by all of Kubernetes. */
const DEFAULT_NAMESPACE = 'default';
/** Bytes. The newer of the two Event APIs refuses longer messages. */
const LONGEST_MESSAGE = 1024;
/** Events are remembered for counting up; the API server forgets them after an hour anyway. */
const REMEMBERED = 1000;

/** Writes Events to the API server. */
export function eventRecorder(transport: KubeTransport, options: EventRecorderOptions): EventRecorder {
  return new ApiEventRecorder(transport, options);
}

interface Written {
  readonly path: string;
  readonly count: number;
}

class ApiEventRecorder implements EventRecorder {
  readonly #transport: KubeTransport;
  readonly #options: EventRecorderOptions;
  readonly #written = new BoundedMap<string, Written>(REMEMBERED);
  #serial = 0;

  constructor(transport: KubeTransport, options: EventRecorderOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  async record(said: EventRecord): Promise<boolean> {
    const event = { ...said, message: shortened(said.message, LONGEST_MESSAGE) };
    const key = JSON.stringify(event);
    try {
      const before = event.occasion === undefined ? this.#written.get(key) : undefined;
      this.#written.set(key, (before && (await this.#countUp(before))) ?? (await this.#create(event)));
      this.#options.onAnswer?.(undefined);
      return true;
    } catch (error) {
      const { reason, regarding, occasion } = event;
      if (occasion !== undefined && error instanceof ConflictError) return true;
      if (error instanceof ApiStatusError) this.#options.onAnswer?.(error);
      this.#options.logger.warn('event not written', { reason, kind: regarding.kind, name: regarding.name, error });
      return false;
    }
  }

  /** Undefined where the API server has forgotten the Event. */
  async #countUp({ path, count }: Written): Promise<Written | undefined> {
    const body = { count: count + 1, lastTimestamp: this.#now() };
    try {
      await this.#transport.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
      return { path, count: count + 1 };
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async #create({ regarding, type, reason, message, occasion }: EventRecord): Promise<Written> {
    const { component, instance } = this.#options;
    const namespace = regarding.namespace ?? DEFAULT_NAMESPACE;
    const collection = collectionPath({ version: 'v1', plural: 'events', namespace });
    const name = occasion === undefined ? this.#newName(regarding) : `${stemOf(regarding)}.${occasion}`;
    const now = this.#now();
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: regarding,
      type,
      reason,
      message,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    await this.#transport.request({ method: 'POST', path: collection, body });
    return { path: objectPath(collection, name), count: 1 };
  }

  /** The serial number makes it unique in this process, and the time makes it differ from those of earlier processes. */
  #newName(regarding: ObjectReference): string {
    return `${stemOf(regarding)}.${this.#options.clock.now().toString(16)}.${(this.#serial++).toString(16)}`;
  }

  #now(): string {
    return rfc3339(this.#options.clock.now());
  }
}

/** The beginning of an Event's name, with room for the rest. */
function stemOf({ name }: ObjectReference): string {
  return name.slice(0, 180).replace(/[.-]+$/, '');
}
