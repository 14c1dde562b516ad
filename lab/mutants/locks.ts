import { type Mutant, mutantsOf } from './mutant.ts';

const MOVES = 'runtime/agent/wish.ts';
const STEP = 'runtime/agent/steps/wish.ts';
const KILLED = ['test/agent/wish-moves.test.ts', 'test/agent/wish-moments.test.ts'];

/** Rule B11: what is set on hosts, and given back. */
export const lockMutants: readonly Mutant[] = [
  ...mutantsOf(MOVES, ['test/agent/wish-moves.test.ts', 'test/agent/wish.test.ts'], {
    'B11: sets what is not on record': [
      "isFree(now) ? { kind: 'record', ours: wish, before: now }",
      "isFree(now) ? { kind: 'set', to: wish }",
    ],
    'B11: sets again what only the agent remembers': ['seen.wish && !seen.isOnRecord', 'seen.wish === undefined'],
    'B11: sets its lock over that of somebody else': [
      "{ kind: 'forget' } : { kind: 'elsewhere' }",
      "{ kind: 'forget' } : { kind: 'set', to: wish }",
    ],
    'B11: passes over waves where somebody else has the lock': ["lock.kind !== 'elsewhere' && wish", 'wish'],
  }),
  ...mutantsOf(MOVES, KILLED, {
    'B11: goes from one lock to another that is not on record': [
      "{ kind: 'keep' } : { kind: 'set', to: before }",
      "{ kind: 'keep' } : { kind: 'set', to: wish ?? before }",
    ],
  }),
  ...mutantsOf(STEP, ['test/agent/wish-moments.test.ts', 'test/agent/wish.test.ts'], {
    'B11: takes the record away before what is given back counts': [
      "touched !== undefined && because?.[0] === 'HostFailed'",
      'touched !== undefined && because === undefined',
    ],
  }),
  ...mutantsOf('runtime/agent/hosts/bottlerocket/lock.ts', ['test/agent/wish.test.ts'], {
    'B11: commits what an agent that was killed has left': [
      "await send({ method: 'DELETE', path: `/tx?${TX}` }, signal);",
      '',
    ],
  }),
];
