import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/random.ts';
import { retry } from '../../../lib/retry.ts';
import { type Limits, PAUSES, throughTrouble } from '../asking.ts';
import { HostCalls, type HostTransport } from './calls.ts';
import { settingsLock } from './lock.ts';
import {
  failedAction,
  HostActionFailedError,
  HostActionLostError,
  HostBusyError,
  HostError,
  HostProtocolError,
  HostUnreachableError,
  OfferChangedError,
  OtherImageError,
  UpdateGoneError,
} from '../errors.ts';
import type { HostAction, HostLock, HostSettings, HostStatus, HostTraits, HostUpdater, OsInfo } from '../port.ts';
import { awaitResult, type Finished, hasResult, UsualDuration } from '../result.ts';

interface BottlerocketOptions {
  readonly transport: HostTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** @see readBootId */
  readonly readBootId: () => Promise<string>;
}

/** From the call to the end of the host's work, milliseconds. */
const DEADLINES: Readonly<Record<HostAction | 'other', number>> = {
  // Each of these asks the update repository first, which may be slow to refuse.
  refresh: 120_000,
  prepare: 20 * 60_000,
  activate: 120_000,
  deactivate: 120_000,
  other: 60_000,
};

const TRAITS: HostTraits = {
  versions: 'offered',
  // An inhibitor may delay a reboot by 300 seconds; the rest is for the shutdown itself.
  limits: { prepareMs: DEADLINES.prepare, activateMs: DEADLINES.activate, goingDownMs: 360_000 },
};

/** A host whose updates are driven over Bottlerocket's own API. */
export class Bottlerocket implements HostUpdater {
  readonly traits = TRAITS;
  readonly lock: HostLock;
  readonly #options: BottlerocketOptions;
  readonly #calls: HostCalls;
  readonly #refreshes = new UsualDuration();
  /**
   * An activation may have been cut off between the flags of what boots next and the status: the status before it, or `marked` where no later
   * one says more.
   */
  #unseen: HostStatus | 'marked' | undefined;

  constructor(options: BottlerocketOptions) {
    this.#options = options;
    this.#calls = new HostCalls(options.transport);
    this.lock = settingsLock(
      (request, signal) => this.#calls.send(request, signal),
      (request, signal) => this.#ask(request, this.#limits('other', signal)),
    );
  }

  os(signal?: AbortSignal): Promise<OsInfo> {
    return this.#ask(() => this.#calls.os(signal), this.#limits('other', signal));
  }

  bootId(): Promise<string> {
    return this.#options.readBootId();
  }

  async updateSettings(signal?: AbortSignal): Promise<HostSettings | undefined> {
    try {
      return await this.#calls.settings(signal);
    } catch (error) {
      if (signal?.aborted || error instanceof HostError) return undefined;
      throw error;
    }
  }

  status(signal?: AbortSignal): Promise<HostStatus | undefined> {
    return this.#readable(this.#limits('other', signal));
  }

  async refresh(signal?: AbortSignal): Promise<HostStatus> {
    const limits = this.#limits('refresh', signal);
    return this.#perform('refresh', await this.#readable(limits), limits);
  }

  async prepare(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const limits = this.#limits('prepare', signal);
    const before = await this.#readable(limits);
    if (before?.chosen?.version !== version) throw new OfferChangedError(version, before?.chosen?.version);
    const after = await this.#work('prepare', before, limits);
    const { chose } = after.lastCommand;
    if (chose !== undefined && chose !== version) throw new OtherImageError(version, chose);
    expectCommandDone(after);
    // Somebody else may have refreshed between the look and the action.
    if (!holds(after, version)) throw new OtherImageError(version, after.staging?.image.version);
    return after;
  }

  async activate(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const limits = this.#limits('activate', signal);
    const before = await this.#readable(limits);
    if (!before || !holds(before, version)) throw notStaged(before, version);
    if (before.state === 'Ready') return before;
    const mayBoot = this.#mayBoot(before);
    const after = await this.#work('activate', before, limits).catch((error: unknown) => {
      if (!isRefusal(error)) this.#unseen = mayBoot ? 'marked' : before;
      throw error;
    });
    const isMarked = isMarkedBefore(after);
    // One that fails before it comes to the flags, at the repository above all, says nothing of those of an earlier one.
    this.#unseen = isMarked || (mayBoot && after.lastCommand.status !== 'Success') ? 'marked' : undefined;
    if (isMarked) throw new UpdateGoneError(`activate: an earlier one was cut off: ${after.lastCommand.stderr}`);
    expectCommandDone(after);
    // Somebody else may have prepared another one between the look and the action.
    if (!holds(after, version)) throw notStaged(after, version);
    return after;
  }

  async deactivate(signal?: AbortSignal): Promise<HostStatus | undefined> {
    const limits = this.#limits('deactivate', signal);
    const before = await this.#readable(limits);
    if (before?.state !== 'Ready') return this.#mayBoot(before) ? this.#writeOver(before, signal) : before;
    const after = await this.#perform('deactivate', before, limits);
    this.#unseen = undefined;
    return after;
  }

  get isCutOff(): boolean {
    return this.#unseen !== undefined;
  }

  /** Whether an activation may have set the flags of what boots next although the status does not say so. */
  #mayBoot(now: HostStatus | undefined): now is HostStatus {
    if (!this.#unseen || now?.state !== 'Staged') return false;
    return this.#unseen === 'marked' || !hasResult('activate', this.#unseen, now) || isMarkedBefore(now);
  }

  /**
   * Only a download clears flags that the host does not know of, and one that fails may have failed before it did. It takes whatever version
   * the host chooses.
   */
  async #writeOver(before: HostStatus, signal: AbortSignal | undefined): Promise<HostStatus> {
    const after = await this.#work('prepare', before, this.#limits('prepare', signal));
    const { chose, status, stderr = '', exit } = after.lastCommand;
    if (chose === null || status !== 'Success')
      throw new HostActionFailedError('prepare', `an activation that was cut off is not undone: ${stderr}`, exit);
    this.#unseen = undefined;
    return after;
  }

  async reboot(signal?: AbortSignal): Promise<void> {
    let unanswered = false;
    const ask = async (): Promise<void> => {
      try {
        await this.#calls.start('reboot', signal);
      } catch (error) {
        // The host is going down: nothing listens any more.
        if (unanswered && error instanceof HostUnreachableError && error.socketDead) return;
        unanswered ||= mayHaveArrived(error);
        throw error;
      }
    };
    try {
      // Without an answer the request may not have arrived. A second one does no harm.
      await this.#ask(ask, this.#limits('other', signal));
    } catch (error) {
      // A host that goes down often closes the connection before it answers.
      if (signal?.aborted || !unanswered) throw error;
    }
  }

  #readable(limits: Limits): Promise<HostStatus | undefined> {
    return this.#ask(() => this.#calls.status(limits.signal), limits);
  }

  async #perform(action: HostAction, before: HostStatus | undefined, limits: Limits): Promise<HostStatus> {
    const after = await this.#work(action, before, limits);
    expectCommandDone(after);
    return after;
  }

  /** Starts an action and waits for its end, good or bad; `before` is the status that it starts from. */
  async #work(action: HostAction, before: HostStatus | undefined, limits: Limits): Promise<Finished> {
    const { clock } = this.#options;
    await this.#ask(() => this.#start(action, before, limits), limits);
    const usual = action === 'refresh' ? this.#refreshes : new UsualDuration();
    const startedAt = clock.now();
    const waitFrom = clock.monotonic();
    const look = (): Promise<HostStatus | undefined | 'working'> => this.#look(limits);
    const after = await awaitResult({ ...limits, clock, action, before, firstLookMs: usual.firstLookMs(), look });
    // The host's own timestamp says when the work ended. The agent saw the end later: that time would make each wait longer than the one
    // before.
    const stamped = Date.parse(after.lastCommand.timestamp) - startedAt;
    const seen = clock.monotonic() - waitFrom;
    usual.record(stamped >= 0 && stamped <= seen ? stamped : seen);
    return after;
  }

  async #start(action: HostAction, before: HostStatus | undefined, limits: Limits): Promise<void> {
    try {
      await this.#calls.start(action, limits.signal);
    } catch (error) {
      if (limits.signal?.aborted || !mayHaveArrived(error)) throw error;
      // The host may be working. Once its status can be read, a new result shows that it was. Without a new result it never began.
      if (!hasResult(action, before, await this.#readable(limits))) throw error;
    }
  }

  /**
   * Asks until the host answers. A busy host is asked again until the deadline. A host in trouble is asked again for a minute, even beyond
   * the deadline, because its socket may be away only for a moment. A busy host has answered, so its trouble is over.
   */
  #ask<T>(request: () => Promise<T>, { deadline, signal }: Limits): Promise<T> {
    const { clock, random } = this.#options;
    return retry(() => this.#reach(request, signal), {
      clock,
      random,
      signal,
      ...PAUSES,
      isTransient: (error) => error instanceof HostBusyError,
      deadline,
    });
  }

  #reach<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return throughTrouble(request, { ...this.#options, signal });
  }

  async #look({ signal }: Limits): Promise<HostStatus | undefined | 'working'> {
    try {
      return await this.#reach(() => this.#calls.status(signal), signal);
    } catch (error) {
      if (error instanceof HostBusyError) return 'working';
      throw error;
    }
  }

  #limits(action: HostAction | 'other', signal: AbortSignal | undefined): Limits {
    return { signal, deadline: this.#options.clock.monotonic() + DEADLINES[action] };
  }
}

/** @throws WriteFailedError, HostActionFailedError */
function expectCommandDone({ lastCommand: { type, status, stderr = '', exit, chose } }: Finished): void {
  if (status !== 'Success') throw failedAction(type, { stderr, exit, hasWritten: chose != null });
}

/** The flags of an earlier activation are set. */
function isMarkedBefore({ lastCommand }: HostStatus): boolean {
  return lastCommand?.type === 'activate' && (lastCommand.stderr?.includes('already marked for upgrade') ?? false);
}

/** The host has not begun the action. */
function isRefusal(error: unknown): boolean {
  const isUnknown = [HostActionLostError, HostUnreachableError, HostProtocolError].some(
    (kind) => error instanceof kind,
  );
  return error instanceof HostError && !isUnknown;
}

function holds(status: HostStatus, version: string): boolean {
  return status.staging?.image.version === version;
}

function notStaged(status: HostStatus | undefined, version: string): UpdateGoneError {
  return new UpdateGoneError(`activate: ${status?.staging?.image.version ?? 'nothing'} is staged, not ${version}`);
}

function mayHaveArrived(error: unknown): boolean {
  return error instanceof HostUnreachableError && !error.unsent;
}
