import { expect, test } from '@jest/globals';
import { parseCommand } from './options.ts';

test.each([
  [[], { kind: 'start' }],
  [['start'], { kind: 'start' }],
  [['build'], { kind: 'build' }],
  [['-h'], { kind: 'help' }],
  [['exec', 'kubectl', 'get', '-h'], { kind: 'exec', program: 'kubectl', args: ['get', '-h'] }],
  [['exec'], { kind: 'unknown', fault: 'exec: expected a program' }],
  [['start', 'now'], { kind: 'unknown', fault: 'start: expected no more arguments, got now' }],
  [['stop'], { kind: 'unknown', fault: 'expected start, exec, build or --help, got stop' }],
])('%j', (args, command) => {
  expect(parseCommand(args)).toEqual(command);
});
