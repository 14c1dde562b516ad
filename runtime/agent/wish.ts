import type { VersionWish, WishState } from '../api/shadow/model.ts';
import { compareSemver, isSemver } from '../api/shadow/semver.ts';
import { lockedTo } from '../api/shadow/update-settings.ts';
import type { HostStatus, LockChange, LockedAs } from './hosts/port.ts';

/**
 * What is done to a host's settings for the wish in its shadow. Pure functions. The record in the shadow is written before the settings are
 * changed, and goes after they were given back: what is set, and is neither ours by the record nor what was there before, is somebody else's.
 */

interface Seen {
  /** Nothing of it counts where it is null. */
  readonly wish: VersionWish | null | undefined;
  readonly record: WishState | null | undefined;
  /** Whether the shadow has that record too: one that is made anew has lost what the agent remembers. */
  readonly isOnRecord: boolean;
  readonly now: LockedAs;
}

type WishMove =
  /** To be on record before anything is changed. */
  | { readonly kind: 'record'; readonly record: WishState }
  | { readonly kind: 'commit'; readonly change: LockChange }
  /** Nothing is left to be set. `record` is what is ours from now on, and `ours` what the agent has had a hand in, as it is now. */
  | {
      readonly kind: 'settled';
      readonly record: WishState;
      readonly ours: WishState['ours'];
      readonly refused?: readonly ['LockedElsewhere', string];
    };

/** The next move. After each of them the settings are read again, but for the last. */
export function nextMove(seen: Seen): WishMove {
  const moves = movesOf(seen);
  const { version_lock: lock, ignore_waves: ignoring } = moves;
  const record = recorded(seen.record, moves);
  if (lock.kind === 'record' || ignoring.kind === 'record') return { kind: 'record', record };
  const change = changeOf(moves);
  if (change) return seen.wish && !seen.isOnRecord ? { kind: 'record', record } : { kind: 'commit', change };
  const ours = seen.record?.ours ?? {};
  if (lock.kind !== 'elsewhere') return { kind: 'settled', record, ours };
  const said = `version-lock is ${seen.now.version_lock}, which somebody else has set`;
  return { kind: 'settled', record, ours: { ...ours, version_lock: null }, refused: ['LockedElsewhere', said] };
}

function changeOf({ version_lock: lock, ignore_waves: ignoring }: Moves): LockChange | undefined {
  if (lock.kind !== 'set' && ignoring.kind !== 'set') return undefined;
  return {
    ...(lock.kind === 'set' && { version_lock: lock.to }),
    ...(ignoring.kind === 'set' && { ignore_waves: ignoring.to }),
  };
}

function movesOf({ wish, record, now }: Seen): Moves {
  const { ours = {}, before = {} } = record ?? {};
  const of = <K extends keyof LockedAs>(key: K, wanted: LockedAs[K] | null | undefined): One<LockedAs[K]> => ({
    wish: wanted,
    ours: ours[key] as LockedAs[K] | undefined,
    before: before[key] as LockedAs[K] | undefined,
    now: now[key],
  });
  const lock = moveOf(LOCK, of('version_lock', wish?.version_lock));
  // Without the lock that was meant, the host would take at once whatever comes out.
  const ignores = lock.kind !== 'elsewhere' && wish?.ignore_waves === true;
  return { version_lock: lock, ignore_waves: moveOf(WAVES, of('ignore_waves', ignores ? true : undefined)) };
}

interface One<T> {
  readonly wish: T | null | undefined;
  readonly ours: T | null | undefined;
  readonly before: T | null | undefined;
  readonly now: T;
}

type OneMove<T> =
  | { readonly kind: 'keep' }
  | { readonly kind: 'record'; readonly ours: T; readonly before: T }
  | { readonly kind: 'set'; readonly to: T }
  /** It is not ours any more. */
  | { readonly kind: 'forget' }
  | { readonly kind: 'elsewhere' };

interface Setting<T> {
  readonly same: (a: T, b: T) => boolean;
  /** Whether nobody has set it. */
  readonly isFree: (now: T) => boolean;
}

const LOCK: Setting<string> = { same: sameLock, isFree: (now) => now === 'latest' };
const WAVES: Setting<boolean> = { same: (a, b) => a === b, isFree: (now) => !now };

function moveOf<T>(setting: Setting<T>, one: One<T>): OneMove<T> {
  return one.ours == null || one.before == null
    ? acquire(setting, one)
    : hold(setting, one, { ours: one.ours, before: one.before });
}

function acquire<T>({ same, isFree }: Setting<T>, { wish, now }: One<T>): OneMove<T> {
  if (wish == null || same(now, wish)) return { kind: 'keep' };
  return isFree(now) ? { kind: 'record', ours: wish, before: now } : { kind: 'elsewhere' };
}

/**
 * Another wish first gets back what was there, because the record can name one thing as ours. Nobody sees it: it is not applied. What is ours is as
 * we have written it: the same version in other letters is somebody else's.
 */
function hold<T>({ same }: Setting<T>, { wish, now }: One<T>, { ours, before }: { ours: T; before: T }): OneMove<T> {
  if (now === ours) return wish != null && same(ours, wish) ? { kind: 'keep' } : { kind: 'set', to: before };
  if (now !== before) return wish == null || same(now, wish) ? { kind: 'forget' } : { kind: 'elsewhere' };
  if (wish == null) return { kind: 'forget' };
  return same(ours, wish) ? { kind: 'set', to: wish } : { kind: 'record', ours: wish, before: now };
}

type Moves = { readonly [K in keyof LockedAs]: OneMove<LockedAs[K]> };

function recorded(record: WishState | null | undefined, moves: Moves): WishState {
  const ours = { ...record?.ours };
  const before = { ...record?.before };
  for (const key of ['version_lock', 'ignore_waves'] as const) {
    const move = moves[key];
    if (move.kind === 'forget' || move.kind === 'elsewhere') {
      delete ours[key];
      delete before[key];
    }
    if (move.kind !== 'record') continue;
    Object.assign(ours, { [key]: move.ours });
    Object.assign(before, { [key]: move.before });
  }
  return { ours, before };
}

export const isNothing = ({ ours }: Pick<WishState, 'ours'>): boolean =>
  Object.values(ours).every((value) => value == null);

function sameLock(a: string, b: string): boolean {
  return lockedTo(a) === lockedTo(b);
}

/** The versions that a host chooses from by its settings: `undefined` is no update. Empty where anything may be right. */
type Expected = readonly [version: string | undefined] | readonly [];

/** What a look comes to once the settings are rendered. */
export function expectedChoice({ available }: HostStatus, { version_lock }: LockedAs, running: string): Expected {
  if (available === undefined) return [];
  const lock = lockedTo(version_lock);
  if (lock !== 'latest') return [lock !== running && available.includes(lock) ? lock : undefined];
  const newest = available.find((version) => isSemver(version) && compareSemver(version, running) > 0);
  return newest === undefined ? [] : [newest];
}

/** Whether the host may not have the version that it is locked to. It does not say whether waves or max_version are in the way. */
export function isNotOffered({ available }: HostStatus, { version_lock }: LockedAs, running: string): boolean {
  const lock = lockedTo(version_lock);
  return lock !== 'latest' && lock !== running && available !== undefined && !available.includes(lock);
}
