import { expect, test } from '@jest/globals';
import { type Options, parseOptions } from './options.ts';

const faults = (...args: string[]): readonly string[] => {
  const parsed = parseOptions(args);
  return parsed.kind === 'faults' ? parsed.faults : [];
};

const options = (...args: string[]): Options => {
  const parsed = parseOptions(args);
  if (parsed.kind !== 'run') throw new Error(JSON.stringify(parsed));
  return parsed.options;
};

test('without options one new seed is played for six hours', () => {
  expect(options()).toMatchObject({ seed: undefined, seeds: 1, hours: 6, nodes: undefined, jobs: 1 });
});

test('what is given is taken', () => {
  expect(options('--seed', '7', '--hours', '0.5', '--nodes', '50', '--without', '3,7')).toMatchObject({
    seed: 7,
    hours: 0.5,
    nodes: 50,
    without: [3, 7],
  });
  expect(options('--planted', 'L1', 'slot', '--jobs', '2')).toMatchObject({
    planted: ['L1', 'slot'],
    seeds: 200,
    jobs: 2,
  });
});

test('every fault is told with its option, what was expected and what came', () => {
  expect(faults('--seed', '0', '--hours', 'ten', '--nodes', '1.5', '--only', 'a')).toEqual([
    '--seed: expected a whole number from 1 to 2147483647, got "0"',
    '--hours: expected a number above 0 and up to 1000, got "ten"',
    '--nodes: expected a whole number from 1 to 1000, got "1.5"',
    '--only: expected faults\' numbers with commas between them, such as 3,7, got "a"',
  ]);
});

test.each([
  [['--speed', '3'], "Unknown option '--speed'"],
  [['7'], 'expected options alone, got "7"'],
  [['--without', '3'], '--without: expected one --seed with it, whose faults it numbers'],
  [['--seed', '3', '--seeds', '4', '--only', '3'], '--only: expected one --seed with it, whose faults it numbers'],
  [['--minutes', '5', '--seeds', '4'], '--minutes: expected it without --seeds'],
  [['--planted', '--shrink'], '--planted: expected it without --without, --only and --shrink'],
  [['--list'], '--list: expected it with --planted'],
  [['--finds', '3'], '--finds: expected it with --planted'],
])('%j is refused', (args, fault) => {
  expect(faults(...args)).toEqual([expect.stringContaining(fault)]);
});

test('help is given whatever else is asked', () => {
  expect(parseOptions(['--help', '--seed', 'x'])).toEqual({ kind: 'help' });
});
