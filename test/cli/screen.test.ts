import { expect, test } from '@jest/globals';
import { nearestTo } from '../../runtime/cli/nearest.ts';
import { fittedTo, table, terminalOf } from '../../runtime/cli/output/terminal.ts';

test('a screen that is too low keeps what comes first, and counts the rest', () => {
  const lines = ['NEEDS YOU', '  a', '', 'fleet', 'b', 'c'];
  expect(fittedTo({ rows: 5 }, lines)).toEqual([
    'NEEDS YOU',
    '  a',
    '',
    '... 3 more lines, which a taller window shows; Ctrl-C ends',
  ]);
  expect(fittedTo({ rows: 7 }, lines)).toEqual(lines);
  expect(fittedTo({}, lines)).toEqual(lines);
  expect(terminalOf({ isTTY: true, columns: 80, rows: 24 }, {})).toMatchObject({ columns: 80, rows: 24 });
  expect(table([['a']], { columns: 80 })).toEqual(['a']);
});

test('what was mistyped is told with the word that it is like', () => {
  const words = ['status', 'why', 'pause', 'plan'];
  expect(nearestTo('stauts', words)).toEqual(['status']);
  expect(nearestTo('plans', words)[0]).toBe('plan');
  expect(nearestTo('explode', words)).toEqual([]);
});
