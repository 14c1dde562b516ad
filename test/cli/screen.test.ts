import { expect, test } from '@jest/globals';
import { listenToKeys } from '../../runtime/cli/output/keys.ts';
import { fittedTo, table, terminalOf } from '../../runtime/cli/output/terminal.ts';
import { nearest } from '../../runtime/lib/nearest.ts';

test('a screen that is too low keeps what comes first, and counts the rest', () => {
  const lines = ['NEEDS YOU', '  a', '', 'fleet', 'b', 'c'];
  expect(fittedTo({ rows: 5 }, lines)).toEqual([
    'NEEDS YOU',
    '  a',
    '',
    '... 3 more lines, which a taller window shows; q to quit',
  ]);
  expect(fittedTo({ rows: 7 }, lines)).toEqual(lines);
  expect(fittedTo({}, lines)).toEqual(lines);
  expect(terminalOf({ isTTY: true, columns: 80, rows: 24 }, {})).toMatchObject({ columns: 80, rows: 24 });
  expect(table([['a']], { columns: 80 })).toEqual(['a']);
});

test('of the keys only q, Ctrl-C and Ctrl-Z do something while a screen is drawn again and again', () => {
  let press: (keys: Buffer) => void = () => undefined;
  const did: string[] = [];
  const keyboard = {
    setRawMode: (isRaw: boolean) => did.push(isRaw ? 'raw' : 'cooked'),
    on: (_: 'data', listener: typeof press) => (press = listener),
  };
  listenToKeys(keyboard, {
    quit: () => did.push('quit'),
    interrupt: () => did.push('interrupt'),
    suspend: (onContinue) => onContinue(),
  });
  for (const keys of ['x', '\u001B[A', 'q', 'Q', '\u0003', '\u001A']) press(Buffer.from(keys));
  expect(did).toEqual(['raw', 'quit', 'quit', 'interrupt', 'cooked', 'raw']);
});

test('what was mistyped is told with the word that it is like', () => {
  const words = ['status', 'why', 'pause', 'plan', 'now', 'hold'];
  expect(nearest('stauts', words)).toBe('status');
  expect(nearest('plans', words)).toBe('plan');
  expect(nearest('explode', words)).toBeUndefined();
});

test.each(['help', 'show'])('who types %s is led to no command that changes nodes', (typed) => {
  expect(nearest(typed, ['hold', 'now'])).toBeUndefined();
});
