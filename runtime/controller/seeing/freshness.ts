import { answerOf, ApiStatusError } from '../../kube/errors.ts';
import type { ClusterConnection } from '../../kube/in-cluster.ts';
import { Informer, type InformerOptions } from '../../kube/informer.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { deadline } from '../../lib/abort.ts';
import type { Basics } from '../../lib/basics.ts';
import type { Clock } from '../../lib/clock.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { ControllerConfig } from '../config.ts';

/** What caches are made with. */
export interface CacheOptions extends Basics, Pick<ClusterConnection, 'transport'> {
  readonly freshness: Pick<Freshness, 'informer'>;
}

interface FreshnessOptions {
  readonly clock: Clock;
  readonly config: Pick<ControllerConfig, 'CACHE_TIMEOUT_MS'>;
}

type Remediable<T extends KubeObject, P> = InformerOptions<T, P> & Pick<Partial<Known>, 'remedy'>;

/** What is known of one collection. */
interface Known {
  /** What a person does where the API server refuses the list, as the end of a sentence. */
  readonly remedy: string | undefined;
  /** When it was last known to be current, monotonic; -Infinity = not in this term. */
  at: number;
  /** The first error that the API server has answered with since then. */
  error: unknown;
  readonly relist: () => void;
}

/** A leader waits for its first lists for so long. Then what is disturbed goes on without. */
const RENEWAL_MS = 10_000;

/** Makes the informers that decisions depend on, and knows whether what all of them show is known to be current (rule L11). */
export class Freshness {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** By what they are, in the plural. */
  readonly #known = new Map<string, Known>();
  readonly #listeners = new Set<() => void>();
  readonly #wakeup = new Wakeup();
  /** What listeners were last told. */
  #told: string | undefined;

  constructor({ clock, config }: FreshnessOptions) {
    this.#clock = clock;
    this.#timeoutMs = config.CACHE_TIMEOUT_MS;
  }

  /** @param what the objects are, in the plural; `remedy` what a person does where the API server refuses to list them */
  informer<T extends KubeObject, P>(what: string, { remedy, ...options }: Remediable<T, P>): Informer<T, P> {
    const informer: Informer<T, P> = new Informer<T, P>({
      ...options,
      currentForMs: this.#timeoutMs,
      onCurrent: (at) => this.#current(known, at),
      onInterrupted: (error) => (known.error ??= error),
    });
    const known: Known = { remedy, at: -Infinity, error: undefined, relist: () => informer.relist() };
    this.#known.set(what, known);
    return informer;
  }

  /** What is not known to be current, in words that stay the same for as long as the reason does; undefined where all is. */
  get lost(): string | undefined {
    const lost = [...this.#known].find(([, known]) => !this.#isCurrent(known));
    return lost && lostText(...lost);
  }

  /** How long ago each was known to be current, milliseconds; Infinity = never in this term. */
  ages(): readonly (readonly [what: string, ms: number])[] {
    return [...this.#known].map(([what, { at }]) => [what, this.#clock.monotonic() - at]);
  }

  /** Calls `listener` whenever `lost` has changed. Returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells of changes that time alone makes, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#tell();
      const oldest = Math.min(...[...this.#known.values()].map(({ at }) => at));
      const leftMs = oldest + this.#timeoutMs - this.#clock.monotonic();
      await this.#wakeup.wait(this.#clock, leftMs > 0 ? this.#clock.now() + Math.ceil(leftMs) : Infinity, signal);
    }
  }

  /**
   * Begins a term as leader: until now another has decided, so what was read before does not count. Resolves when all was listed anew, or after
   * some seconds.
   */
  async renew(signal: AbortSignal): Promise<void> {
    for (const known of this.#known.values()) {
      known.relist();
      known.at = -Infinity;
    }
    this.#tell();
    const changed = new Wakeup();
    const end = this.onChange(() => changed.ring());
    const limited = deadline({ clock: this.#clock, ms: RENEWAL_MS, signal });
    while (this.lost !== undefined && !limited.signal.aborted) {
      await changed.wait(this.#clock, Infinity, limited.signal);
    }
    limited.release();
    end();
  }

  #isCurrent({ at }: Known): boolean {
    return this.#clock.monotonic() - at < this.#timeoutMs;
  }

  #current(known: Known, at: number): void {
    known.at = Math.max(known.at, at);
    known.error = undefined;
    if (this.#told !== undefined) this.#wakeup.ring();
  }

  #tell(): void {
    const { lost } = this;
    if (lost === this.#told) return;
    this.#told = lost;
    for (const listener of this.#listeners) listener();
  }
}

function lostText(what: string, { at, error, remedy }: Known): string {
  const todo = remedy !== undefined && error instanceof ApiStatusError ? `; ${remedy}` : '';
  if (error !== undefined) return `the list of ${what} ${answerOf(error)}${todo}`;
  return at === -Infinity ? `the ${what} have not been read yet` : `nothing is heard of the ${what}`;
}
