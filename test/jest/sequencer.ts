import { createRequire } from 'node:module';
import type jestSequencer from '@jest/test-sequencer';

const require = createRequire(import.meta.url);
const { default: Sequencer } = require('@jest/test-sequencer') as typeof jestSequencer;
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** Take longest, with little text: on a machine that has not run them, Jest would begin them last, and wait for one of them alone. */
const LONGEST = [
  'test/rollout/',
  'lab/simulation/storms',
  'test/packed/',
  'test/controller/interleavings',
  'test/agent/',
  'test/controller/plan/properties',
  'test/cli/dashboard/',
  'test/release/',
];

/** First what takes longest; then as Jest has it, by how long each took the last time, or by its size. */
export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const rank = ({ path }: Tests[number]): number => {
      const index = LONGEST.findIndex((part) => path.includes(part));
      return index === -1 ? LONGEST.length : index;
    };
    const usual = await Sequencer.prototype.sort.call(this, tests);
    return usual.toSorted((a, b) => rank(a) - rank(b));
  }
}
