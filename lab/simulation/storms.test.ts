import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { seeds } from '../../test/random.ts';
import { failureText, type Job } from './job.ts';
import { play, simulate } from './simulate.ts';

/** Small, so that many fit: `npm run lab -- simulate` plays longer storms on larger fleets. */
const SMALL = { hours: 0.75, last: 80 } as const;
const FIXED = [1, 2, 3, 4, 5];
const FRESH = seeds(3);
// Names of tests that pass are not printed, and a storm that hangs, or a process that dies, tells no name at all.
process.stderr.write(`storms of new seeds: ${FRESH.join(', ')}\n`);

const small = (seed: number): Job => ({ ...SMALL, seed, nodes: 3 + (seed % 3) });

describe('a storm passes without a violation', () => {
  test.each(FIXED)('seed %i', async (seed) => {
    expect(failureText(await simulate(small(seed)))).toBe('');
  });

  test.each(FRESH)('a new seed: %i', async (seed) => {
    expect(failureText(await simulate(small(seed)))).toBe('');
  });
});

test('the same seed plays the same run, byte for byte', async () => {
  const digest = async (): Promise<string> => {
    const { history } = await play({ ...small(6), hours: 0.25 });
    const hash = createHash('sha256');
    for (const entry of history) hash.update(JSON.stringify(entry));
    return hash.digest('hex');
  };
  expect(await digest()).toBe(await digest());
});
