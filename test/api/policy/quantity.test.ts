import { describe, expect, test } from '@jest/globals';
import { concurrency, failureBudget } from '../../../runtime/api/policy/quantity.ts';

const share = (percent: number) => ({ kind: 'percent', percent }) as const;

describe('a share of the nodes', () => {
  test.each([
    [29, 100, 29],
    [57, 100, 57],
    [10, 25, 2],
    [10, 3, 1],
    [100, 7, 7],
  ])('%d %% of %d may be updating: %d', (percent, nodes, expected) => {
    expect(concurrency(share(percent), nodes)).toBe(expected);
  });

  test.each([
    [7, 100, 7],
    [14, 50, 7],
    [10, 25, 3],
    [10, 3, 2],
  ])('%d %% of %d may fail: %d', (percent, nodes, expected) => {
    expect(failureBudget(share(percent), nodes)).toBe(expected);
  });
});

test('a count is itself; no limit is none for failures, and 600 for updates at once', () => {
  expect([concurrency({ kind: 'count', count: 4 }, 1), failureBudget({ kind: 'count', count: 1 }, 9)]).toEqual([4, 1]);
  expect([concurrency({ kind: 'unlimited' }, 1), failureBudget({ kind: 'unlimited' }, 1)]).toEqual([600, Infinity]);
});
