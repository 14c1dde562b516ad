import type { Mutant } from './mutant.ts';

const MOVES = 'runtime/agent/wish.ts';
const STEP = 'runtime/agent/steps/wish.ts';
const KILLED = ['test/agent/wish-moves.test.ts', 'test/agent/wish-moments.test.ts'];

/** Rule B11: what is set on hosts, and given back. */
export const lockMutants: readonly Mutant[] = [
  {
    rule: 'B11',
    does: 'sets what is not on record',
    file: MOVES,
    find: "isFree(now) ? { kind: 'record', ours: wish, before: now }",
    replace: "isFree(now) ? { kind: 'set', to: wish }",
    tests: ['test/agent/wish-moves.test.ts', 'test/agent/wish.test.ts'],
  },
  {
    rule: 'B11',
    does: 'sets again what only the agent remembers',
    file: MOVES,
    find: 'seen.wish && !seen.isOnRecord',
    replace: 'seen.wish === undefined',
    tests: ['test/agent/wish-moves.test.ts', 'test/agent/wish.test.ts'],
  },
  {
    rule: 'B11',
    does: 'sets its lock over that of somebody else',
    file: MOVES,
    find: "{ kind: 'forget' } : { kind: 'elsewhere' }",
    replace: "{ kind: 'forget' } : { kind: 'set', to: wish }",
    tests: ['test/agent/wish-moves.test.ts', 'test/agent/wish.test.ts'],
  },
  {
    rule: 'B11',
    does: 'goes from one lock to another that is not on record',
    file: MOVES,
    find: "{ kind: 'keep' } : { kind: 'set', to: before }",
    replace: "{ kind: 'keep' } : { kind: 'set', to: wish ?? before }",
    tests: KILLED,
  },
  {
    rule: 'B11',
    does: 'passes over waves where somebody else has the lock',
    file: MOVES,
    find: "lock.kind !== 'elsewhere' && wish",
    replace: 'wish',
    tests: ['test/agent/wish-moves.test.ts', 'test/agent/wish.test.ts'],
  },
  {
    rule: 'B11',
    does: 'takes the record away before what is given back counts',
    file: STEP,
    find: "touched !== undefined && because?.[0] === 'HostFailed'",
    replace: 'touched !== undefined && because === undefined',
    tests: ['test/agent/wish-moments.test.ts', 'test/agent/wish.test.ts'],
  },
  {
    rule: 'B11',
    does: 'commits what an agent that was killed has left',
    file: 'runtime/agent/hosts/bottlerocket/lock.ts',
    find: "await send({ method: 'DELETE', path: `/tx?${TX}` }, signal);",
    replace: '',
    tests: ['test/agent/wish.test.ts'],
  },
];
