import { expect, test } from '@jest/globals';
import { parseCommand } from './options.ts';

test.each([
  [[], { kind: 'start', options: expect.objectContaining({ nodes: 3, speed: 10, from: '1.38.0', to: '1.39.0' }) }],
  [['--nodes', '5', '--speed', '0.5'], { kind: 'start', options: expect.objectContaining({ nodes: 5, speed: 0.5 }) }],
  [['build'], { kind: 'build' }],
  [['-h'], { kind: 'help' }],
  [['--nodes', '10'], { kind: 'wrong', fault: '--nodes: expected a whole number from 1 to 9, got 10' }],
  [['--speed', 'fast'], { kind: 'wrong', fault: '--speed: expected a number from 0.1 to 100, got fast' }],
  [['stop'], { kind: 'wrong', fault: 'expected build or nothing, got stop' }],
  [['--all'], { kind: 'wrong', fault: expect.stringContaining("'--all'") }],
])('%j', (args, command) => {
  expect(parseCommand(args)).toEqual(command);
});
