import { ApiStatusError, isDefinite, UnexpectedAnswerError } from '../kube/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { shortened } from '../lib/parts.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import type { Command } from './plan/commands.ts';
import type { Snapshot } from './plan/snapshot.ts';
import { targetOf } from './plan/withheld.ts';

/** A webhook that is out for a moment costs a second; what is refused for good is asked for twelve times an hour. */
const PAUSE = { firstMs: 1000, maxMs: 300_000 };
/** A command that was not asked for again in this time after its pause is no longer wanted: its next refusal is a first one. */
const FORGOTTEN_MS = PAUSE.maxMs;
/** Bytes of what the API server said. */
const LONGEST_ANSWER = 256;

/** Times are monotonic: a wall clock that is set neither ends a pause nor makes a long one of it. */
interface Entry {
  readonly message: string;
  readonly attempts: number;
  readonly retryAt: number;
}

/** Remembers what the API server has not taken, by node and kind of command, and until when to leave it at that. */
export class Refusals {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By name of the shadow, then by kind. */
  readonly #entries = new Map<string, Map<Command['kind'], Entry>>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The API server refused the command with `error`, or did not answer. */
  add(command: Command, error: unknown): void {
    const target = targetOf(command);
    const kinds = this.#entries.get(target) ?? new Map<Command['kind'], Entry>();
    const attempts = kinds.get(command.kind)?.attempts ?? 0;
    const pauseMs = Math.max(backoff(attempts, { ...PAUSE, random: this.#random }), askedPauseMs(error));
    const message = `${WANTED[command.kind]} ${answerOf(error)}`;
    kinds.set(command.kind, { message, attempts: attempts + 1, retryAt: this.#clock.monotonic() + pauseMs });
    this.#entries.set(target, kinds);
  }

  /** The API server took the command, or there was nothing left to do of it. */
  delete(command: Command): void {
    this.#forget(targetOf(command), command.kind);
  }

  /** What is withheld, for a plan. */
  view(): Snapshot['refusals'] {
    const now = this.#clock.monotonic();
    const ahead = this.#clock.now() - now;
    for (const [target, kinds] of this.#entries) {
      for (const [kind, { retryAt }] of kinds) if (now > retryAt + FORGOTTEN_MS) this.#forget(target, kind);
    }
    return new Map(
      [...this.#entries].map(([target, kinds]) => [
        target,
        [...kinds].map(([kind, { message, retryAt }]) => ({ kind, message, retryAt: retryAt + ahead })),
      ]),
    );
  }

  #forget(target: string, kind: Command['kind']): void {
    const kinds = this.#entries.get(target);
    if (kinds?.delete(kind) && kinds.size === 0) this.#entries.delete(target);
  }
}

/** What a person misses while a command is not carried out. */
const WANTED: Readonly<Record<Command['kind'], string>> = {
  'set-spec': 'the next step of its update',
  'call-off': 'the end of its update',
  start: 'the start of its update',
  bump: 'the write that settles an earlier one',
  free: 'the return of its slot',
  release: 'the release of its marks',
  rescue: 'the end of its update',
  disown: 'the change of its marks',
  adopt: 'its label',
  'delete-shadow': 'the deletion of its shadow',
  'set-condition': 'its condition',
};

/** The same text for as long as the answer is the same: it is written to the cluster. */
function answerOf(error: unknown): string {
  if (!(error instanceof ApiStatusError)) return 'is not answered';
  const { code, reason = '', message = '' } = error.status;
  if (error instanceof UnexpectedAnswerError) return `is answered with ${code}, and not by the API server`;
  const said = shortened(`${code} ${reason}: ${message}`, LONGEST_ANSWER);
  return isDefinite(error) ? `is refused: ${said}` : `fails: ${said}`;
}

function askedPauseMs(error: unknown): number {
  const seconds = error instanceof ApiStatusError ? (error.status.details?.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds * 1000, PAUSE.maxMs);
}
