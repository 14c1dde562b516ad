import type { Mutant } from './mutant.ts';

const GATES = 'runtime/controller/plan/gates.ts';
const REQUESTS = ['test/controller/plan/requests.test.ts'];
const PLAN = 'runtime/controller/plan/plan.ts';
const NO_REQUESTS = 'nobody in the simulation asks for anything on a node';
const STARTS = 'runtime/controller/plan/starts.ts';

/** Rule P9: what people ask for on a node. */
export const requestMutants: readonly Mutant[] = [
  {
    rule: 'P9',
    does: 'keeps a node that somebody asks for within the windows',
    unseen: NO_REQUESTS,
    file: 'runtime/controller/plan/windows.ts',
    find: '  if (node.askedBy !== undefined) return PASS;\n',
    replace: '',
    tests: REQUESTS,
  },
  {
    rule: 'P9',
    does: 'lets a node that somebody asks for wait for its turn',
    unseen: NO_REQUESTS,
    file: 'runtime/controller/plan/turns.ts',
    find: '(isAsked ? -1 : crashes)',
    replace: 'crashes',
    tests: REQUESTS,
  },
  {
    rule: 'P9',
    does: 'ends every pause after a failure that somebody has ended once',
    unseen: NO_REQUESTS,
    file: GATES,
    find: 'retryOf !== undefined && retryOf === status.state_transition_failure_timestamp',
    replace: 'retryOf !== undefined',
    tests: [...REQUESTS, 'test/controller/requests-of-people.test.ts'],
  },
  {
    rule: 'P9',
    does: 'takes away what somebody has asked for before it has begun',
    unseen: NO_REQUESTS,
    file: PLAN,
    find: "return state === 'Idle' && offered === undefined;",
    replace: 'return true;',
    tests: REQUESTS,
  },
  {
    rule: 'P9',
    does: 'leaves what somebody has asked for where it is',
    unseen: NO_REQUESTS,
    file: PLAN,
    find: '    ...answeredRequests(unsettled),\n',
    replace: '',
    tests: REQUESTS,
  },
  {
    rule: 'P9',
    does: 'keeps the node of the controller last, whoever asks for it',
    unseen: NO_REQUESTS,
    file: STARTS,
    find: 'this.#world.settings.ownNode && !isAsked)',
    replace: 'this.#world.settings.ownNode)',
    tests: REQUESTS,
  },
];
