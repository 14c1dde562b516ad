import type { Mutant } from './mutant.ts';

const REFUSALS = { file: 'test/e2e/refusals.ts', tests: ['test/e2e/refusals.test.ts'] } as const;

/** What the scenarios say of requests that the API server refuses. */
export const refusalMutants: readonly Mutant[] = [
  {
    ...REFUSALS,
    rule: 'the operator is never forbidden anything',
    without: 'a right that its roles lack is not missed',
    find: ' || code === 403',
    replace: '',
  },
  {
    ...REFUSALS,
    rule: 'a token of the operator is never refused',
    without: 'its processes may go on with one that has expired',
    find: 'code === 401 || ',
    replace: '',
  },
  {
    ...REFUSALS,
    rule: 'a process of the operator that nobody knows is known by the name that it gives itself',
    without: 'one that sends no token, or a bad one, is not seen',
    find: " || OPERATOR_AGENT.test(event.userAgent ?? '')",
    replace: '',
  },
  {
    ...REFUSALS,
    rule: 'an API server that has not read the roles yet refuses everybody',
    without: 'each of its starts is a breach',
    find: ' && !isDuring(outages, one)',
    replace: '',
  },
  {
    ...REFUSALS,
    rule: 'what an API server is asked once it is ready, it answers for good',
    without: 'whatever it refuses after one outage is excused',
    find: ' && atMs <= toMs',
    replace: '',
  },
  {
    ...REFUSALS,
    rule: 'a refusal is told with the time when it was first seen',
    without: 'it is that of the last one',
    find: 'if (!firsts.has(line)) ',
    replace: '',
  },
  {
    file: 'test/e2e/controlplane/outages.ts',
    tests: ['test/e2e/controlplane/outages.test.ts'],
    rule: 'an outage lasts until the server is ready, however often it ends before that',
    without: 'what it refused between its ends is a breach',
    find: 'this.#sinceMs ??= atMs',
    replace: 'this.#sinceMs = atMs',
  },
  {
    file: 'test/e2e/controlplane/daemon.ts',
    tests: ['test/e2e/controlplane/daemon.test.ts'],
    rule: 'an outage begins when the process ends',
    without: 'what was refused by its successor before it was noted is a breach',
    find: 'onRestart(endedAtMs);',
    replace: 'onRestart(clock.now());',
  },
];
