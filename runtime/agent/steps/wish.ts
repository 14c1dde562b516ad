import { isDeepStrictEqual } from 'node:util';
import type { AgentStatus, VersionWish, WishRefusal, WishState } from '../../api/shadow/model.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { backoff } from '../../lib/retry.ts';
import { HostError, isDeadMount, SettingsRefusedError } from '../hosts/errors.ts';
import type { HostLock, HostStatus, LockChange, LockedAs } from '../hosts/port.ts';
import { currentStatus, withWish } from '../status.ts';
import { expectedChoice, isNotOffered, isNothing, nextMove } from '../wish.ts';
import type { StepContext } from './context.ts';

/** What has become of the settings before a look for updates. */
interface Settled {
  /** What is ours on the host from now on. */
  readonly record: WishState;
  /** Undefined where they are not known. */
  readonly now?: LockedAs;
  /** Of these, what the agent has set, to what was wished or back. */
  readonly touched?: LockChange | undefined;
  readonly refused?: Refused;
}

type Refused = readonly [reason: WishRefusal, detail: string];

/** For how long the host may go on choosing by its settings of before. */
const RENDERED_MS = 30_000;
const PAUSES = { firstMs: 500, maxMs: 10_000 };
/** Any wish leads to any other by fewer. */
const MOST_MOVES = 8;
const NOTHING: WishState = { ours: {}, before: {} };

/**
 * Brings the settings of the host to what its shadow wishes, with each look for updates. What is about to be set is on record in the shadow
 * before, and what was there is given back, and seen to count, before the record goes. So whatever agent comes next knows what is ours.
 */
export class Wishes {
  readonly #context: StepContext;
  /** As last put on record: a shadow that is made anew has lost it. */
  #known: WishState | undefined;
  /** The settings that this agent has seen to count. */
  #rendered: LockedAs | undefined;
  /** Until when nothing is told to a cluster that does not keep it, by the monotonic clock. */
  #mutedUntil = -Infinity;

  constructor(context: StepContext) {
    this.#context = context;
  }

  /**
   * Has the host look for updates by the settings that are wished. `wish` is to be told; undefined where there is nothing to tell.
   * @throws what `refresh` throws
   */
  async look(
    refresh: () => Promise<HostStatus>,
    signal: AbortSignal,
  ): Promise<{ readonly status: HostStatus; readonly wish?: WishState | null }> {
    if (!this.#wish && !this.#record) return { status: await refresh() };
    const settled = await this.#settle(signal);
    const status = await this.#untilChosen(settled, refresh, signal);
    return { status, wish: this.#said(settled, status) };
  }

  /** @param wish undefined where there is nothing to tell */
  told(status: AgentStatus, wish: WishState | null | undefined): AgentStatus {
    return wish === undefined || this.#isMuted ? status : withWish(status, wish);
  }

  /** After a status was reported with it. */
  noteTold(wish: WishState | null | undefined): void {
    if (wish === undefined || this.#isMuted) return;
    const { clock, view } = this.#context;
    if (wish !== null && !view.value.shadow?.status?.version_wish) this.#mutedUntil = clock.monotonic() + HOUR_MS;
    else this.#known = wish ?? undefined;
  }

  /** No way leads to the version from the one that runs. @returns whether it was wished */
  async refuse(version: string, detail: string, signal: AbortSignal): Promise<boolean> {
    if (this.#wish?.version_lock !== version) return false;
    const wish = { ...(this.#record ?? NOTHING), refused: 'NoMigrations' satisfies WishRefusal, detail };
    await this.#tell(wish, signal);
    return true;
  }

  get #isMuted(): boolean {
    return this.#context.clock.monotonic() < this.#mutedUntil;
  }

  get #record(): WishState | undefined {
    return this.#context.view.value.shadow?.status?.version_wish ?? this.#known;
  }

  get #isOnRecord(): boolean {
    return this.#context.view.value.shadow?.status?.version_wish != null;
  }

  get #wish(): VersionWish | null | undefined {
    return this.#context.view.value.shadow?.spec.version_wish;
  }

  async #settle(signal: AbortSignal): Promise<Settled> {
    const { host, logger } = this.#context;
    if (!host.lock) return { record: NOTHING, refused: ['NoSettings', 'the host has no settings of updates'] };
    try {
      return await this.#moved(host.lock, signal);
    } catch (error) {
      if (!isPassing(error, signal)) throw error;
      logger.warn('the settings of the host cannot be set', { error });
      const reason = error instanceof SettingsRefusedError ? error.reason : 'HostFailed';
      return { record: this.#record ?? NOTHING, refused: [reason, error.message] };
    }
  }

  /** Makes all moves but those that a record of their own has to precede and that cannot be kept. */
  async #moved(lock: HostLock, signal: AbortSignal): Promise<Settled> {
    for (let moves = 0; moves < MOST_MOVES; moves++) {
      const now = await lock.read(signal);
      const record = this.#record;
      const move = nextMove({ wish: this.#wish, record, isOnRecord: this.#isOnRecord, now });
      if (move.kind === 'settled') return { now, touched: ourPartOf(now, move.ours), ...move };
      if (move.kind === 'record' && !(await this.#isKept(move.record, signal)))
        return { record: NOTHING, now, refused: ['HostFailed', 'the cluster keeps no record of what is set'] };
      if (move.kind === 'record') continue;
      this.#context.logger.info('the settings of the host are set', { ...move.change });
      await lock.commit(move.change, signal);
    }
    return { record: this.#record ?? NOTHING, refused: ['HostFailed', 'somebody else goes on changing the settings'] };
  }

  /** Whether it is on record by now. Without it nobody could give back what was there. */
  async #isKept(record: WishState, signal: AbortSignal): Promise<boolean> {
    if (this.#isMuted) return false;
    await this.#tell(record, signal);
    return !this.#isMuted;
  }

  /** With the status as it is. */
  async #tell(wish: WishState, signal: AbortSignal): Promise<void> {
    await this.#context.apiserver.report((view) => this.told(currentStatus(view), wish), signal);
    this.noteTold(wish);
  }

  /**
   * Applies what this agent has not seen to count, and looks until the host's choice is what the settings say. The tools of the host may go on
   * with the old ones for a moment, or miss the new ones altogether.
   */
  async #untilChosen(
    { now, touched }: Settled,
    refresh: () => Promise<HostStatus>,
    signal: AbortSignal,
  ): Promise<HostStatus> {
    if (!now || !touched) return refresh();
    const { clock, random, view } = this.#context;
    const deadline = clock.monotonic() + RENDERED_MS;
    for (let attempt = 0; ; attempt++) {
      if (!isDeepStrictEqual(now, this.#rendered)) await this.#apply(touched, signal);
      const status = await refresh();
      this.#rendered = isChosen(status, now, view.value.version) ? now : undefined;
      const pause = backoff(attempt, { ...PAUSES, random });
      if (this.#rendered || clock.monotonic() + pause > deadline) return status;
      await clock.sleep(pause, signal);
    }
  }

  /** That it fails shows in what the host chooses. */
  async #apply(touched: LockChange, signal: AbortSignal): Promise<void> {
    const { clock, host, logger } = this.#context;
    try {
      await host.lock?.apply(touched, signal);
    } catch (error) {
      if (!isPassing(error, signal)) throw error;
      logger.warn('the settings of the host cannot be applied', { error });
    }
    await clock.sleep(PAUSES.firstMs, signal);
  }

  #said(settled: Settled, status: HostStatus): WishState | null {
    const { now, refused } = settled;
    const because = refused ?? (now && this.#doubt(status, now));
    const record = this.#kept(settled, because);
    if (!this.#wish && isNothing(record)) return null;
    if (because) return { ...record, refused: because[0], detail: because[1] };
    return this.#isWayless(record) ? { ...this.#record, ...record } : record;
  }

  /** What was seen of the ways to a version holds for as long as it is wished. */
  #isWayless({ ours }: Pick<WishState, 'ours'>): boolean {
    const last = this.#record;
    return last?.refused === 'NoMigrations' && last.ours.version_lock === ours.version_lock;
  }

  /** What was given back stays on record until it counts. */
  #kept({ record, touched }: Settled, because: Refused | undefined): Pick<WishState, 'ours' | 'before'> {
    const isDoubted = touched !== undefined && because?.[0] === 'HostFailed';
    const { ours, before } = (isDoubted ? this.#record : undefined) ?? record;
    return { ours, before };
  }

  /** Why what is set does not lead to what is wished. */
  #doubt(status: HostStatus, now: LockedAs): Refused | undefined {
    const { version } = this.#context.view.value;
    return isChosen(status, now, version) ? notOffered(status, now, version) : goesOn(status, now);
  }
}

function isPassing(error: unknown, signal: AbortSignal): error is HostError {
  return error instanceof HostError && !isDeadMount(error) && !signal.aborted;
}

/** Undefined where nothing is ours. */
function ourPartOf(now: LockedAs, ours: WishState['ours']): LockChange | undefined {
  const touched = {
    ...(ours.version_lock != null && { version_lock: now.version_lock }),
    ...(ours.ignore_waves != null && { ignore_waves: now.ignore_waves }),
  };
  return isNothing({ ours: touched }) ? undefined : touched;
}

function isChosen(status: HostStatus, now: LockedAs, running: string): boolean {
  const expected = expectedChoice(status, now, running);
  return expected.length === 0 || status.chosen?.version === expected[0];
}

const goesOn = ({ chosen }: HostStatus, { version_lock }: LockedAs): Refused => [
  'HostFailed',
  `version-lock is ${version_lock}, and the host goes on choosing ${chosen?.version ?? 'no update'}`,
];

function notOffered(status: HostStatus, now: LockedAs, running: string): Refused | undefined {
  if (!isNotOffered(status, now, running)) return undefined;
  const may = status.available?.slice(0, 3).join(', ');
  return ['NotOffered', `the host may not have ${now.version_lock}, but ${may === '' ? 'nothing' : may}`];
}
