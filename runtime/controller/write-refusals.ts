import { ApiStatusError, BusyError, isDefinite, UnexpectedAnswerError } from '../kube/errors.ts';
import { byWallClock, type Clock, type Moment } from '../lib/clock.ts';
import { shortened } from '../lib/parts.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import type { Command } from './plan/commands.ts';
import type { WriteRefusal, Snapshot } from './plan/snapshot.ts';
import { targetOf } from './plan/withheld.ts';

/** A short outage of a webhook costs a second. A write that is always refused is tried twelve times an hour. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };
/** Where writes to a whole fleet are refused, e.g. by a change freeze, its nodes take turns: one write at most in this time. */
const SPACING_MS = 1000;
/** A command that was not tried again in this time after its pause is no longer wanted. Its next refusal counts as the first. */
const FORGOTTEN_MS = PAUSE.maxMs;
/** Bytes of what the API server said. */
const LONGEST_ANSWER = 256;

/** Times are monotonic: setting the wall clock neither ends a pause nor prolongs it. */
interface RefusedWrite {
  readonly message: string;
  readonly attempts: number;
  /** When its own pause is over. */
  readonly restedAt: number;
  /** When it may be tried again: later than that where many are refused. */
  readonly retryAt: number;
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

/** Remembers which commands the API server has not taken, by kind and by node, and until when they are not tried again. */
export class WriteRefusals {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By kind, then by name of the shadow. */
  readonly #entries = new Map<Command['kind'], Map<string, RefusedWrite>>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The API server refused the command with `error`, or did not answer. */
  add(command: Command, error: unknown): void {
    const { kind } = command;
    const now = this.#clock.monotonic();
    const alike = this.#entries.get(kind) ?? new Map<string, RefusedWrite>();
    for (const [known, entry] of alike) if (isForgotten(entry, now)) alike.delete(known);
    const target = targetOf(command);
    const attempts = alike.get(target)?.attempts ?? 0;
    // A busy API server has said nothing of the command, so the pauses do not grow.
    const reason = error instanceof UnreadError ? error.cause : error;
    const failures = reason instanceof BusyError ? 0 : attempts;
    const restedAt = now + Math.max(backoff(failures, { ...PAUSE, random: this.#random }), askedPauseMs(reason));
    const retryAt = Math.max(restedAt, now + alike.size * SPACING_MS);
    alike.set(target, { message: messageOf(kind, error), attempts: attempts + 1, restedAt, retryAt });
    this.#entries.set(kind, alike);
  }

  /** The API server took the command, or there was nothing left to do. Other commands of its kind no longer wait for their turn. */
  delete(command: Command): void {
    const alike = this.#entries.get(command.kind);
    alike?.delete(targetOf(command));
    for (const [target, entry] of alike ?? []) alike?.set(target, { ...entry, retryAt: entry.restedAt });
  }

  /** What a plan has to know, by name of the shadow. */
  view(moment: Moment): Snapshot['refusals'] {
    const view = new Map<string, WriteRefusal[]>();
    for (const [kind, alike] of this.#entries) {
      for (const [target, entry] of alike) {
        if (isForgotten(entry, moment.monotonic)) continue;
        const refusal = { kind, message: entry.message, retryAt: byWallClock(entry.retryAt, moment) };
        view.set(target, [...(view.get(target) ?? []), refusal]);
      }
    }
    return view;
  }
}

const isForgotten = ({ retryAt }: RefusedWrite, now: number): boolean => now > retryAt + FORGOTTEN_MS;

/** What is missing while a command is not carried out, in words for people. */
const WANTED: Readonly<Record<Command['kind'], string>> = {
  'set-spec': 'the next step of its update',
  'call-off': 'the end of its update',
  start: 'the start of its update',
  bump: 'the write that settles an earlier one',
  free: 'the return of its slot',
  'note-reboot': 'the note of its reboot',
  'note-end': 'the note of how its update ended',
  release: 'the release of its marks',
  rescue: 'the end of its update',
  disown: 'the change of its marks',
  adopt: 'its label',
  forget: 'the removal of what was asked for on it',
  'delete-shadow': 'the deletion of its shadow',
  'set-hint': 'the version to prepare meanwhile',
  'set-condition': 'its condition',
};

function messageOf(kind: Command['kind'], error: unknown): string {
  if (!(error instanceof UnreadError)) return `${WANTED[kind]} ${answerOf(error)}`;
  return `${WANTED[kind]} waits, because the look at ${error.what} ${answerOf(error.cause)}`;
}

export const COMMAND_KINDS = Object.keys(WANTED) as readonly Command['kind'][];

/** What became of a request, as the end of a sentence. The same answer gives the same text, because it is written to the cluster. */
export function answerOf(error: unknown): string {
  if (!(error instanceof ApiStatusError)) return 'is not answered';
  if (error instanceof BusyError) return 'is put off: the API server is too busy (429)';
  if (error instanceof UnexpectedAnswerError) return `is answered with ${error.status.code}, and not by the API server`;
  return `${isDefinite(error) ? 'is refused' : 'fails'}: ${wordsOf(error)}`;
}

/** What the API server has said. */
export function wordsOf({ status: { code, reason = '', message = '' } }: ApiStatusError): string {
  return shortened(`${code} ${reason}: ${message}`, LONGEST_ANSWER);
}

function askedPauseMs(error: unknown): number {
  const seconds = error instanceof ApiStatusError ? (error.status.details?.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds * 1000, PAUSE.maxMs);
}
