import { describe, expect, test } from '@jest/globals';
import { expectedChoice, nextMove } from '../../runtime/agent/wish.ts';
import type { VersionWish, WishState } from '../../runtime/api/shadow/model.ts';
import type { HostStatus, LockedAs } from '../../runtime/agent/hosts/port.ts';

/** A host, its shadow, and who has set what is set: what no agent can see. */
interface State {
  readonly wish: VersionWish | null;
  readonly record: WishState | null;
  readonly isOnRecord: boolean;
  readonly now: LockedAs;
  readonly lockedBy: 'nobody' | 'agent' | 'owner';
}

const AT_FIRST: State = {
  wish: null,
  record: null,
  isOnRecord: false,
  now: { version_lock: 'latest', ignore_waves: false },
  lockedBy: 'nobody',
};
const WISHES: readonly (VersionWish | null)[] = [
  null,
  { version_lock: '1.1.0' },
  { version_lock: '1.2.0', ignore_waves: true },
  { ignore_waves: true },
];
const OWNERS = ['latest', '9.9.9'];

/** One move of the agent. It may be killed after each, and what comes then sees no more than this. */
function acted(state: State): State {
  const move = nextMove(state);
  if (move.kind === 'record') return { ...state, record: move.record, isOnRecord: true };
  if (move.kind === 'settled') {
    const record = state.wish || Object.keys(move.record.ours).length > 0 ? move.record : null;
    return { ...state, record, isOnRecord: record !== null };
  }
  if (state.wish) expect(state.isOnRecord).toBe(true);
  const { version_lock: lock } = move.change;
  // The host's owner has the last word.
  if (lock !== undefined) expect([state.lockedBy, state.now.version_lock]).not.toEqual(['owner', '9.9.9']);
  const lockedBy = lock === undefined ? state.lockedBy : lock === 'latest' ? 'nobody' : 'agent';
  return { ...state, now: { ...state.now, ...move.change }, lockedBy };
}

const disturbed = (state: State): State[] => [
  ...WISHES.map((wish) => Object.assign({}, state, { wish })),
  ...OWNERS.map((lock) => Object.assign({}, state, { now: { ...state.now, version_lock: lock }, lockedBy: 'owner' })),
  // The shadow is deleted and made anew, and the agent remembers.
  { ...state, isOnRecord: false },
  // It has booted, and forgotten what was set.
  { ...state, now: AT_FIRST.now, lockedBy: 'nobody' },
];

/** All that can come about. */
function reachable(): State[] {
  const seen = new Map<string, State>();
  const open = [AT_FIRST];
  for (let state = open.pop(); state; state = open.pop()) {
    const key = JSON.stringify(state);
    if (seen.has(key)) continue;
    seen.set(key, state);
    open.push(acted(state), ...disturbed(state));
  }
  return [...seen.values()];
}

function atRest(state: State): State {
  let [before, now] = [state, acted(state)];
  for (let moves = 0; JSON.stringify(before) !== JSON.stringify(now); moves++) {
    if (moves > 8) throw new Error(`no rest: ${JSON.stringify(state)}`);
    [before, now] = [now, acted(now)];
  }
  return now;
}

describe('in every order of wishes, kills, boots and changes by hand', () => {
  const states = reachable();

  test('are more states than one would think of', () => {
    expect(states.length).toBeGreaterThan(100);
  });

  test('what was set for a wish is given back when it ends, with the record, and a lock of others stays', () => {
    for (const state of states) {
      const { now, record, lockedBy } = atRest({ ...state, wish: null });
      expect([record, lockedBy === 'agent', now.ignore_waves]).toEqual([null, false, false]);
      if (state.lockedBy === 'owner') expect(now.version_lock).toBe(state.now.version_lock);
    }
  });

  test('a wish holds, or the lock is that of the owner, and then waves are waited for', () => {
    for (const state of states) {
      const { wish, now, lockedBy } = atRest(state);
      if (!wish?.version_lock) continue;
      const isOwners = lockedBy === 'owner' && now.version_lock === '9.9.9';
      expect(now).toEqual(
        isOwners
          ? { version_lock: '9.9.9', ignore_waves: false }
          : { version_lock: wish.version_lock, ignore_waves: wish.ignore_waves ?? false },
      );
    }
  });
});

test.each<[string, readonly string[] | undefined, readonly unknown[]]>([
  ['latest', ['1.3.0', '1.2.0', '1.1.0'], ['1.3.0']],
  // A release that was withdrawn under the host may lead it back.
  ['latest', ['1.2.0', '1.1.0'], []],
  ['v1.1.0', ['1.3.0', '1.2.0', '1.1.0'], ['1.1.0']],
  ['1.2.0', ['1.3.0', '1.2.0'], [undefined]],
  ['1.4.0', ['1.3.0', '1.2.0'], [undefined]],
  ['1.4.0', undefined, []],
])('a host on 1.2.0 with the lock %s that may have %j is to choose %j', (version_lock, available, expected) => {
  const status = { available } as HostStatus;
  expect(expectedChoice(status, { version_lock, ignore_waves: false }, '1.2.0')).toEqual(expected);
});
