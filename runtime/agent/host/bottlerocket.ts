import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { HostCalls } from './calls.ts';
import {
  HostActionFailedError,
  HostUnreachableError,
  OfferChangedError,
  OtherImageError,
  UpdateGoneError,
} from './errors.ts';
import { insist, type Insistence } from './insist.ts';
import { Habit } from './pace.ts';
import type { HostAction, HostStatus, HostUpdater, OsInfo } from './port.ts';
import { awaitResult, type Finished, hasResult } from './result.ts';
import type { HostTransport } from './transport.ts';

export interface BottlerocketOptions {
  readonly transport: HostTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** @see readBootId */
  readonly readBootId: () => Promise<string>;
}

/** From the call to the end of the host's work, milliseconds. */
const DEADLINES: Readonly<Record<HostAction | 'other', number>> = {
  refresh: 60_000,
  prepare: 20 * 60_000,
  activate: 60_000,
  deactivate: 60_000,
  other: 60_000,
};

/** A host whose updates are driven over Bottlerocket's own API. */
export class Bottlerocket implements HostUpdater {
  readonly #options: BottlerocketOptions;
  readonly #calls: HostCalls;
  readonly #refreshes = new Habit();

  constructor(options: BottlerocketOptions) {
    this.#options = options;
    this.#calls = new HostCalls(options.transport);
  }

  os(signal?: AbortSignal): Promise<OsInfo> {
    return insist(() => this.#calls.os(signal), this.#patience('other', signal));
  }

  bootId(): Promise<string> {
    return this.#options.readBootId();
  }

  status(signal?: AbortSignal): Promise<HostStatus | undefined> {
    return this.#readable(this.#patience('other', signal));
  }

  async refresh(signal?: AbortSignal): Promise<HostStatus> {
    const patience = this.#patience('refresh', signal);
    return this.#perform('refresh', await this.#readable(patience), patience);
  }

  async prepare(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const patience = this.#patience('prepare', signal);
    const before = await this.#readable(patience);
    if (before?.chosen?.version !== version) throw new OfferChangedError(version, before?.chosen?.version);
    const after = await this.#work('prepare', before, patience);
    const { chose } = after.lastCommand;
    if (chose !== undefined && chose !== version) throw new OtherImageError(version, chose);
    expectSuccess(after);
    // Somebody else may have refreshed between the look and the action.
    if (!isStaged(after, version)) throw new OtherImageError(version, after.staging?.image.version);
    return after;
  }

  async activate(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const patience = this.#patience('activate', signal);
    const before = await this.#readable(patience);
    if (!before || !isStaged(before, version)) throw notStaged(before, version);
    if (before.state === 'Ready') return before;
    const after = await this.#perform('activate', before, patience);
    // Somebody else may have prepared another one between the look and the action.
    if (!isStaged(after, version)) throw notStaged(after, version);
    return after;
  }

  async deactivate(signal?: AbortSignal): Promise<HostStatus | undefined> {
    const patience = this.#patience('deactivate', signal);
    const before = await this.#readable(patience);
    return before?.state === 'Ready' ? this.#perform('deactivate', before, patience) : before;
  }

  async reboot(signal?: AbortSignal): Promise<void> {
    let unanswered = false;
    const ask = async (): Promise<void> => {
      try {
        await this.#calls.start('reboot', signal);
      } catch (error) {
        // It is on its way down: nobody listens any more.
        if (unanswered && error instanceof HostUnreachableError && error.socketDead) return;
        unanswered ||= mayHaveArrived(error);
        throw error;
      }
    };
    try {
      // Where no answer came it may not have been heard either; a second request changes nothing.
      await insist(ask, this.#patience('other', signal));
    } catch (error) {
      // A host that goes down takes the connection with it, often before the answer.
      if (signal?.aborted || !unanswered) throw error;
    }
  }

  #readable(patience: Insistence): Promise<HostStatus | undefined> {
    return insist(() => this.#calls.status(patience.signal), patience);
  }

  async #perform(action: HostAction, before: HostStatus | undefined, patience: Insistence): Promise<HostStatus> {
    const after = await this.#work(action, before, patience);
    expectSuccess(after);
    return after;
  }

  /** Starts an action and waits for its end, good or bad; `before` is the status that it starts from. */
  async #work(action: HostAction, before: HostStatus | undefined, patience: Insistence): Promise<Finished> {
    const { clock } = this.#options;
    await insist(() => this.#start(action, before, patience), patience);
    const habit = action === 'refresh' ? this.#refreshes : undefined;
    const startedAt = clock.now();
    const waitFrom = clock.monotonic();
    const after = await awaitResult({
      ...patience,
      action,
      before,
      firstLookMs: (habit ?? new Habit()).firstLookMs(),
      look: () => this.#calls.status(patience.signal),
    });
    // The host's own stamp says when the work ended; when it was seen to have ended would make each wait longer than the last.
    const stamped = Date.parse(after.lastCommand.timestamp) - startedAt;
    const seen = clock.monotonic() - waitFrom;
    habit?.record(stamped >= 0 && stamped <= seen ? stamped : seen);
    return after;
  }

  async #start(action: HostAction, before: HostStatus | undefined, patience: Insistence): Promise<void> {
    try {
      await this.#calls.start(action, patience.signal);
    } catch (error) {
      if (patience.signal?.aborted || !mayHaveArrived(error)) throw error;
      // The host may be at work. Readable again with the result means that it was; without, that it never began.
      if (!hasResult(action, before, await this.#readable(patience))) throw error;
    }
  }

  #patience(action: HostAction | 'other', signal: AbortSignal | undefined): Insistence {
    const { clock, random } = this.#options;
    return { clock, random, signal, deadline: clock.monotonic() + DEADLINES[action] };
  }
}

/** @throws HostActionFailedError */
function expectSuccess({ lastCommand: { type, status, stderr, exit } }: Finished): void {
  if (status !== 'Success') throw new HostActionFailedError(type, stderr ?? '', exit);
}

function isStaged(status: HostStatus, version: string): boolean {
  return status.staging?.image.version === version;
}

function notStaged(status: HostStatus | undefined, version: string): UpdateGoneError {
  return new UpdateGoneError(`activate: ${status?.staging?.image.version ?? 'nothing'} is staged, not ${version}`);
}

function mayHaveArrived(error: unknown): boolean {
  return error instanceof HostUnreachableError && !error.unsent;
}
