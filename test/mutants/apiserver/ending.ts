import type { Mutant } from '../mutant.ts';

/** How a replica ends. */
export const endingMutants: readonly Mutant[] = [
  {
    rule: 'a replica that ends hands over',
    without: 'the word of the process to its drains',
    file: 'runtime/apiserver/run.ts',
    find: '    service.close();\n',
    replace: '',
    tests: ['test/apiserver/run.test.ts'],
  },
  {
    rule: 'evictions are never cut off',
    without: 'the wait for their answers by a replica that ends',
    file: 'runtime/apiserver/run.ts',
    find: 'await Promise.all([answered, this.#server?.close(clock, GRACE_MS)]);',
    replace: 'await this.#server?.close(clock, GRACE_MS);',
    tests: ['test/apiserver/run.test.ts'],
    name: 'be answered',
  },
  {
    rule: 'a replica that ends does so within the grace of its pod',
    without: 'the end of requests that do not end by themselves',
    file: 'runtime/apiserver/serve.ts',
    find: '  server.closeAllConnections();\n',
    replace: '',
    tests: ['test/apiserver/run.test.ts'],
    name: 'cuts off',
  },
  {
    rule: 'a replica that ends serves on for a little',
    without: 'the time until nobody is sent to it any more',
    file: 'runtime/apiserver/run.ts',
    find: '    if (this.#server) await clock.sleep(FAREWELL_MS);\n',
    replace: '',
    tests: ['test/apiserver/run.test.ts'],
  },
];
