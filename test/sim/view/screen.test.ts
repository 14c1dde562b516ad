import { expect, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import type { Row } from '../../../sim/view/rows.ts';
import { createScreen } from '../../../sim/view/screen.ts';

const row = (more: Partial<Row> = {}): Row => ({
  node: 'node-1',
  version: '1.38.0',
  state: 'Idle',
  why: 'UpToDate',
  podsLeft: undefined,
  elapsedMs: undefined,
  ...more,
});

function screen(isTTY: boolean) {
  const out = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24 }) as unknown as NodeJS.WriteStream;
  return { shown: () => String((out as unknown as PassThrough).read() ?? ''), subject: createScreen(out) };
}

test('without a terminal a line comes when something but the time changed', () => {
  const { shown, subject } = screen(false);
  subject.show([row()]);
  subject.show([row({ elapsedMs: 1000 })]);
  subject.show([row({ state: 'Updating', elapsedMs: 2000 })]);
  subject.say('the end');
  expect(shown()).toBe('node-1 1.38.0 Idle UpToDate\nnode-1 1.38.0 Updating UpToDate after 2s\nthe end\n');
});

test('on a terminal the table is drawn anew, and once it has ended it is left alone', () => {
  const { shown, subject } = screen(true);
  subject.show([row()]);
  expect(shown()).toContain('node-1  1.38.0');
  subject.show([row({ version: '1.39.0' })]);
  expect(shown()).toContain('node-1  1.39.0');
  subject.end();
  shown();
  subject.say('the end');
  expect(shown()).not.toContain('node-1');
});

test('a table that is drawn again on a terminal does not jump to and fro', () => {
  const { shown, subject } = screen(true);
  subject.show([row({ state: 'Idle, cordoned' })]);
  subject.show([row({ why: 'Updating' })]);
  expect(shown()).toContain('Idle            Updating');
});
