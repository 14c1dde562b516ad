import { withDeadline } from '../../lib/abort.ts';
import { ApiStatusError, answerOf, BusyError, isDefinite, UnreachableError } from '../../kube/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { inParallel } from '../../lib/parallel.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { CheckAnswer, CheckTry } from '../plan/facts/checks.ts';

/** Asks once. @returns undefined where it is under way @throws where it is refused, or not answered */
export type Ask = (one: CheckTry, signal: AbortSignal) => Promise<CheckAnswer | undefined>;

interface CheckRunnerOptions {
  readonly ask: Ask;
  readonly clock: Clock;
  /** Rings when there is another answer. */
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/** Between two questions of one try. */
const EACH_MS = 5000;
const ASK_MS = 10_000;
const AT_ONCE = 4;

/**
 * Asks what plans want to know of checks, beside them, and again until there is an answer. What it knows is the answers alone: which tries there are
 * stands in the ledgers, and a Job is called after its try, so that a leader goes on with what another has begun.
 */
export class CheckRunner {
  readonly #options: CheckRunnerOptions;
  readonly #wakeup = new Wakeup();
  /** By the name of the try. */
  #wanted: ReadonlyMap<string, CheckTry> = new Map();
  readonly #answers = new Map<string, CheckAnswer>();

  constructor(options: CheckRunnerOptions) {
    this.#options = options;
  }

  /** By the name of the try. */
  get answers(): ReadonlyMap<string, CheckAnswer> {
    return new Map(this.#answers);
  }

  /** What the newest plan wants to know. The rest is forgotten. */
  replace(tries: readonly CheckTry[]): void {
    const isNew = tries.some(({ id }) => !this.#wanted.has(id));
    this.#wanted = new Map(tries.map((one) => [one.id, one]));
    for (const id of this.#answers.keys()) if (!this.#wanted.has(id)) this.#answers.delete(id);
    if (isNew) this.#wakeup.ring();
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#wanted = new Map();
    this.#answers.clear();
    while (!signal.aborted) {
      const open = [...this.#wanted.values()].filter(({ id }) => !isFinal(this.#answers.get(id)));
      await inParallel(open, AT_ONCE, (one) => this.#ask(one, signal));
      const next = open.length > 0 ? clock.now() + EACH_MS : Infinity;
      await this.#wakeup.wait(clock, next, signal);
    }
  }

  async #ask(one: CheckTry, signal: AbortSignal): Promise<void> {
    const { ask, clock, wakeup } = this.#options;
    const said = await withDeadline({ clock, ms: ASK_MS, signal }, (inner) => ask(one, inner)).catch(unknownBy);
    const answer = said && one.endsAt <= clock.now() ? { ...said, isLate: true } : said;
    const before = this.#answers.get(one.id);
    if (signal.aborted || !this.#wanted.has(one.id) || isSame(before, answer)) return;
    if (answer) this.#answers.set(one.id, answer);
    else this.#answers.delete(one.id);
    wakeup.ring();
  }
}

const isFinal = (answer: CheckAnswer | undefined): boolean => answer?.kind === 'passed' || answer?.kind === 'failed';

const isSame = (a: CheckAnswer | undefined, b: CheckAnswer | undefined): boolean =>
  a?.kind === b?.kind && a?.message === b?.message && a?.isLate === b?.isLate;

/** The same answer gives the same words. */
function unknownBy(error: unknown): CheckAnswer {
  const isOfServer = error instanceof ApiStatusError || error instanceof UnreachableError;
  const why = isOfServer ? `the question ${answerOf(error)}` : (error as Error).message;
  const isRefused = isDefinite(error) && !(error instanceof BusyError);
  return { kind: isRefused ? 'unknown' : 'unheard', message: why };
}
