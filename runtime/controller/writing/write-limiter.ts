import { answerOf, ApiStatusError, BusyError } from '../../kube/errors.ts';
import { byWallClock, type Clock, type Moment } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import { getOrInsert } from '../../lib/maps.ts';
import type { Command } from '../plan/facts/commands.ts';
import type { Snapshot, WriteRefusal } from '../plan/facts/snapshot.ts';

/** How long a write waits, milliseconds: doubling each time, with jitter. */
interface Pause {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * After what found another state than the cache shows, and is asked for by each plan until the cache has caught up. It is behind by milliseconds as
 * a rule; one that is behind by minutes costs six requests a minute and item.
 */
const STALE: Pause = { firstMs: 100, maxMs: 10_000 };
/** The same where another version of the item does not wait. */
const STALE_VERSION: Pause = { firstMs: 100, maxMs: 300_000 };
/** A short outage of a webhook costs a second. A write that is always refused is tried twelve times an hour. */
const REFUSED: Pause = { firstMs: 1000, maxMs: 300_000 };
/** Where writes to a whole fleet are refused, e.g. by a change freeze, its nodes take turns: one write at most in this time. */
const SPACING_MS = 1000;
/** A write that was not tried again in this time after its pause is no longer wanted. Its next pause is a first one. */
const FORGOTTEN_MS = 300_000;

/** Times are monotonic: setting the wall clock neither ends a pause nor prolongs it. */
interface Limited {
  readonly pause: Pause | undefined;
  /** In a row, under the same pause and of the same version. */
  readonly attempts: number;
  readonly version: string | undefined;
  /** When its own pause is over. */
  readonly restedAt: number;
  /** When it may be tried again: later than that where many are refused. */
  readonly retryAt: number;
  /** What became of it, in words for people, where it was refused or not answered. */
  readonly message: string | undefined;
}

/** What has to be read before a permit is given, and could not be. Nothing was written. */
export class UnreadError extends Error {
  override readonly name = 'UnreadError';
  /** What could not be read, in words for people. */
  readonly what: string;

  constructor(what: string, cause: unknown) {
    super(`${what} cannot be read`, { cause });
    this.what = what;
  }
}

/** The served CustomResourceDefinition is an older one, which does not keep the field that was written. */
export class DroppedError extends Error {
  override readonly name = 'DroppedError';
}

interface WriteLimiterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** What is missing while a write is not carried out, in words for people. */
  readonly wanted: string;
  /** Milliseconds between two writes of one item, whatever it is by then. @default 0 */
  readonly restMs?: number;
}

/**
 * Writes of one kind: each may be tried ever less often while it is in vain, and all together so often that a fleet that is refused takes turns:
 * client-go's item exponential failure rate limiter, with a bucket.
 */
export class WriteLimiter {
  readonly #options: WriteLimiterOptions;
  readonly #items = new Map<string, Limited>();

  constructor(options: WriteLimiterOptions) {
    this.#options = options;
  }

  /** How long it is too early to try the item again, milliseconds; 0 or less = not at all. @param version what it is now */
  restMs(item: string, version?: string): number {
    const limited = this.#items.get(item);
    if (!limited || (limited.version !== undefined && limited.version !== version)) return 0;
    return limited.retryAt - this.#options.clock.monotonic();
  }

  /** The API server took it: its next pause is a first one, and no other waits for its turn any more. */
  taken(item: string): void {
    this.#items.delete(item);
    for (const [other, limited] of this.#items) {
      if (limited.retryAt > limited.restedAt) this.#items.set(other, { ...limited, retryAt: limited.restedAt });
    }
    if (this.#options.restMs) this.#rest(item, { attempts: 0 });
  }

  /** It is no longer wanted. The others have learned nothing by that. */
  forget(item: string): void {
    this.#items.delete(item);
  }

  /** It found another state than it was decided on, or nothing left to do. @param version waits alone; undefined = every version */
  moved(item: string, version?: string): void {
    const pause = version === undefined ? STALE : STALE_VERSION;
    const waiting = this.#options.restMs ? undefined : version;
    this.#rest(item, { pause, version: waiting, attempts: this.#attempts(item, pause, waiting) });
  }

  /** The API server refused it with `error`, or did not answer. */
  refused(item: string, error: unknown): void {
    const alike = [...this.#items.values()].filter(({ message }) => message !== undefined).length;
    const reason = error instanceof UnreadError ? error.cause : error;
    // A busy API server has said nothing of the write, so its pauses do not grow.
    const attempts = reason instanceof BusyError ? 0 : this.#attempts(item, REFUSED);
    const message = messageOf(this.#options.wanted, error);
    const times = { askedMs: askedPauseMs(reason), turnMs: alike * SPACING_MS };
    this.#rest(item, { pause: REFUSED, attempts, message, ...times });
  }

  /** What was refused or not answered, by item. */
  refusals(moment: Moment): ReadonlyMap<string, Omit<WriteRefusal, 'kind'>> {
    const found = new Map<string, Omit<WriteRefusal, 'kind'>>();
    for (const [item, { message, retryAt }] of this.#items) {
      if (message === undefined || moment.monotonic > retryAt + FORGOTTEN_MS) continue;
      found.set(item, { message, retryAt: byWallClock(retryAt, moment) });
    }
    return found;
  }

  /** In a row. What is no longer wanted is forgotten first. */
  #attempts(item: string, pause: Pause, version?: string): number {
    const now = this.#options.clock.monotonic();
    for (const [known, { retryAt }] of this.#items) if (now > retryAt + FORGOTTEN_MS) this.#items.delete(known);
    const before = this.#items.get(item);
    return before?.pause === pause && before.version === version ? before.attempts : 0;
  }

  #rest(item: string, { pause, version, attempts, message, askedMs = 0, turnMs = 0 }: Resting): void {
    const { clock, random, restMs = 0 } = this.#options;
    const now = clock.monotonic();
    const ownMs = pause ? backoff(attempts, { ...pause, random }) : 0;
    const restedAt = now + Math.max(ownMs, restMs, askedMs);
    const retryAt = Math.max(restedAt, now + turnMs);
    this.#items.set(item, { pause, version, attempts: attempts + 1, message, restedAt, retryAt });
  }
}

interface Resting extends Pick<Limited, 'attempts'>, Partial<Omit<Limited, 'attempts' | 'restedAt' | 'retryAt'>> {
  /** How long the API server asks it to wait. */
  readonly askedMs?: number;
  /** When its turn comes, where many are refused. */
  readonly turnMs?: number;
}

function messageOf(wanted: string, error: unknown): string {
  if (error instanceof DroppedError) return `${wanted} is dropped: the CustomResourceDefinition is of an older version`;
  if (!(error instanceof UnreadError)) return `${wanted} ${answerOf(error)}`;
  return `${wanted} waits, because the look at ${error.what} ${answerOf(error.cause)}`;
}

function askedPauseMs(error: unknown): number {
  const seconds = error instanceof ApiStatusError ? (error.status.details?.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds * 1000, REFUSED.maxMs);
}

type Kind = Exclude<Command['kind'], 'set-condition'>;

/** What is missing while a command is not carried out. */
const WANTED: Readonly<Record<Kind, string>> = {
  'set-spec': 'the next step of its update',
  'call-off': 'the end of its update',
  start: 'the start of its update',
  bump: 'the write that settles an earlier one',
  free: 'the return of its permit',
  'note-reboot': 'the note of its reboot',
  'note-end': 'the note of how its update ended',
  release: 'the release of its marks',
  rescue: 'the end of its update',
  disown: 'the change of its marks',
  adopt: 'its label',
  forget: 'the removal of what was asked for on it',
  'delete-shadow': 'the deletion of its shadow',
  'set-hint': 'the version to prepare meanwhile',
  'set-wish': "what is wanted of its host's settings",
};

export const COMMAND_KINDS = Object.keys(WANTED) as readonly Kind[];

/** The limiters of commands, by kind. Their items are names of shadows. */
export class CommandLimiters {
  readonly #options: Pick<WriteLimiterOptions, 'clock' | 'random'>;
  readonly #limiters = new Map<Kind, WriteLimiter>();

  constructor(options: Pick<WriteLimiterOptions, 'clock' | 'random'>) {
    this.#options = options;
  }

  of(kind: Kind): WriteLimiter {
    return getOrInsert(this.#limiters, kind, () => new WriteLimiter({ ...this.#options, wanted: WANTED[kind] }));
  }

  /** What a plan has to know: the commands that the API server has not taken, by name of the shadow. */
  refusals(moment: Moment): Snapshot['refusals'] {
    const found = new Map<string, WriteRefusal[]>();
    for (const [kind, limiter] of this.#limiters) {
      for (const [shadow, refusal] of limiter.refusals(moment))
        found.set(shadow, [...(found.get(shadow) ?? []), { kind, ...refusal }]);
    }
    return found;
  }
}
