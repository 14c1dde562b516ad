import type { Basics } from '../lib/basics.ts';
import { withDeadline } from '../lib/abort.ts';
import { rfc3339 } from '../lib/clock.ts';
import { jitter } from '../lib/random.ts';
import { ApiStatusError, BusyError, ConflictError } from './errors.ts';
import type { Collection } from './collection.ts';
import { isAsNewAs, type Lease } from './objects.ts';

interface LeaderElectionOptions extends Basics {
  readonly leases: Pick<Collection<Lease>, 'get' | 'create' | 'update'>;
  /** Name of the Lease. */
  readonly name: string;
  /** Name of this candidate, new for each start of the process. */
  readonly identity: string;
  /**
   * Whether a holder is an earlier process in this one's place, and so certainly dead. Its lease is then taken before it runs out.
   * @default none is
   */
  readonly isPredecessor?: ((holder: string) => boolean) | undefined;
  /**
   * The leader's work. Its signal aborts when leadership is lost or the process ends; the candidate goes on only after the work has settled.
   * When the work settles by itself, the candidate gives the lease back and `run` settles the same way.
   */
  readonly onLeading: (signal: AbortSignal) => Promise<void>;
  /** Called when the API server refuses a read or a write of the Lease, so that nobody leads, or soon nobody will. */
  readonly onRefused?: ((error: ApiStatusError) => void) | undefined;
  /** Annotations that the Lease bears while this candidate leads; undefined removes. */
  readonly annotations?: (() => Readonly<Record<string, string | undefined>>) | undefined;
}

/** Other candidates wait this long for a leader that does not renew its lease. */
const LEASE_SECONDS = 15;
/** A leader that could not renew for this long stops, well before anybody else may take over. */
const RENEW_DEADLINE_MS = 10_000;
/** Share of the remaining time that one request may take, so that after an unanswered one there is time for another. */
const ATTEMPT_SHARE = 0.5;
const RETRY_MS = 2_000;
/** After an API server was too busy to look: the request was asked again for as long as it might be, and nothing has changed. */
const BUSY_MS = 250;
const RELEASE_DEADLINE_MS = 3_000;

/** The reason with which a leader's signal aborts when another process leads, or may lead. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

type LeaseOutcome = 'held' | 'other' | 'conflict' | 'busy' | 'failed';

/**
 * Elects one leader among the candidates for a Lease, by the rules of Kubernetes' own components. The age of a renewal counts from when this
 * process first saw it, on its own monotonic clock, because the clocks of other machines prove nothing. Everything else on the Lease, above
 * all its annotations, is written back as it was read.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  /** The Lease as this leader last wrote it. It renews without a read until somebody else writes. */
  #held: Lease | undefined;
  #seen: Lease | undefined;
  #observed: { readonly record: string; readonly at: number } | undefined;
  #leading = false;
  #term: AbortController | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** The Lease as this process last read or wrote it. A candidate reads it about every two seconds. */
  get lease(): Lease | undefined {
    return this.#seen;
  }

  /** Ends the term of this leader, which then stands again. */
  resign(): void {
    this.#term?.abort(new LeadershipLostError('the leader has resigned'));
  }

  /** Stands for election, leads, and stands again when leadership is lost. Gives the lease back when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const since = await this.#acquire(signal);
      if (since === undefined) return;
      const ended = await this.#lead(since, signal);
      if (ended) return;
    }
  }

  /** @returns since when the lease is ours, monotonic; undefined when the signal aborted first */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const began = this.#options.clock.monotonic();
      const outcome = await this.#attempt(RENEW_DEADLINE_MS * ATTEMPT_SHARE, signal);
      if (outcome === 'held') return began;
      await this.#pause(RETRY_MS, signal);
    }
    return undefined;
  }

  /** @returns whether the work ended by itself or by the outer signal, and not because leadership was lost */
  async #lead(since: number, signal: AbortSignal): Promise<boolean> {
    const { onLeading, logger, identity } = this.#options;
    const term = new AbortController();
    this.#term = term;
    const end = (): void => term.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    this.#leading = true;
    logger.info('leading', { identity });
    const renewing = this.#renew(since, term);
    try {
      await onLeading(term.signal);
    } catch (error) {
      // Work that is told to stop may stop by throwing. That is no failure.
      if (!term.signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', end);
      term.abort();
      await renewing;
      this.#leading = false;
      await this.#release();
    }
    return !(term.signal.reason instanceof LeadershipLostError);
  }

  /** Keeps the lease until the term ends; ends the term when it cannot. */
  async #renew(since: number, term: AbortController): Promise<void> {
    const { clock, logger } = this.#options;
    let renewed = since;
    let outcome: LeaseOutcome = 'held';
    const left = (): number => renewed + RENEW_DEADLINE_MS - clock.monotonic();
    while (!term.signal.aborted) {
      const pauseMs = outcome === 'busy' ? BUSY_MS : RETRY_MS;
      if (outcome !== 'conflict') await this.#pause(Math.min(pauseMs, Math.max(0, left())), term.signal);
      const began = clock.monotonic();
      outcome = left() > 0 ? await this.#attempt(left() * ATTEMPT_SHARE, term.signal) : 'other';
      if (outcome === 'held') renewed = began;
      if (outcome !== 'other' || term.signal.aborted) continue;
      logger.warn('leadership lost', { unrenewedMs: Math.round(clock.monotonic() - renewed) });
      term.abort(new LeadershipLostError('another process leads, or may lead'));
    }
  }

  async #attempt(ms: number, signal: AbortSignal): Promise<LeaseOutcome> {
    const { clock, logger, onRefused } = this.#options;
    try {
      return await withDeadline({ ms, clock, signal }, (inner) => this.#takeOrRenew(inner));
    } catch (error) {
      const isBusy = error instanceof BusyError;
      // What was turned away has changed nothing, so the next attempt reads nothing either.
      if (!isBusy) this.#held = undefined;
      if (error instanceof ConflictError) return 'conflict';
      if (signal.aborted) return 'failed';
      logger.warn('lease not written', { error });
      if (error instanceof ApiStatusError) onRefused?.(error);
      return isBusy ? 'busy' : 'failed';
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<LeaseOutcome> {
    const { leases, name, identity, clock } = this.#options;
    const lease = this.#held ?? (await leases.get(name, signal));
    if (this.#leading && this.#isFromBefore(lease)) return 'other';
    this.#seen = lease;
    if (lease && !this.#isOurs(lease) && !this.#isInherited(lease) && !this.#isFree(lease)) return 'other';
    const spec = renewedSpec(lease?.spec, identity, microTime(clock.now()));
    this.#held = lease
      ? await leases.update({ ...lease, metadata: this.#annotated(lease), spec }, signal)
      : await leases.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec }, signal);
    this.#seen = this.#held;
    return 'held';
  }

  #annotated({ metadata }: Lease): Lease['metadata'] {
    const said = Object.entries({ ...metadata.annotations, ...this.#options.annotations?.() });
    const annotations = said.filter((entry): entry is [string, string] => entry[1] !== undefined);
    return { ...metadata, annotations: Object.fromEntries(annotations) };
  }

  /** Whether the Lease is as it was before this leader wrote it: etcd was restored from a backup, and nothing that a term has read is true. */
  #isFromBefore(lease: Lease | undefined): boolean {
    const seen = this.#seen?.metadata.resourceVersion;
    return seen !== undefined && !isAsNewAs(lease?.metadata.resourceVersion, seen);
  }

  #isOurs(lease: Lease): boolean {
    return lease.spec?.holderIdentity === this.#options.identity;
  }

  #isInherited(lease: Lease): boolean {
    return this.#options.isPredecessor?.(lease.spec?.holderIdentity ?? '') ?? false;
  }

  /** Whether the lease has no holder, or its holder has not renewed it for longer than its duration. */
  #isFree({ spec }: Lease): boolean {
    const now = this.#options.clock.monotonic();
    // Only the spec counts: the leader also writes permits into the Lease's annotations, and that is no renewal.
    const record = JSON.stringify(spec ?? {});
    if (this.#observed?.record !== record) this.#observed = { record, at: now };
    const lifetimeMs = (spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1000;
    return !spec?.holderIdentity || now - this.#observed.at > lifetimeMs;
  }

  /** Lets the next candidate begin at once. If it fails, the lease runs out by itself. */
  async #release(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#held = undefined;
    try {
      await withDeadline({ ms: RELEASE_DEADLINE_MS, clock }, (signal) => this.#giveBack(signal));
    } catch (error) {
      logger.warn('lease not released', { error });
    }
  }

  async #giveBack(signal: AbortSignal): Promise<void> {
    const { leases, name, clock } = this.#options;
    while (!signal.aborted) {
      const lease = await leases.get(name, signal);
      if (!lease || !this.#isOurs(lease)) return;
      const now = microTime(clock.now());
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
      try {
        await leases.update({ ...lease, spec }, signal);
        return;
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    await clock.sleep(jitter(ms, 0.2, random), signal).catch(() => undefined);
  }
}

function renewedSpec(before: Lease['spec'], identity: string, now: string): NonNullable<Lease['spec']> {
  const ours = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_SECONDS,
    acquireTime: (ours && before?.acquireTime) || now,
    renewTime: now,
    leaseTransitions: (before?.leaseTransitions ?? 0) + (ours || !before ? 0 : 1),
  };
}

/** Kubernetes' MicroTime: always six decimals. */
export function microTime(epochMs: number): string {
  return `${rfc3339(epochMs, { millis: true }).slice(0, -1)}000Z`;
}
