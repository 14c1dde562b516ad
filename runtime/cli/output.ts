import { stringify } from 'yaml';
import type { Answer } from './command.ts';
import type { Look } from './look.ts';

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** The text of an answer, newline included; empty for a table without lines. */
export function textOf(answer: Answer, format: Format, look: Look): string {
  if (format === 'json') return `${JSON.stringify(answer.value, null, 2)}\n`;
  // What JSON leaves out, or writes as null, YAML does not know: so it is made of what JSON has.
  if (format === 'yaml') return stringify(JSON.parse(JSON.stringify(answer.value)), { lineWidth: 0 });
  const lines = answer.lines(look).map(harmless);
  return lines.map((line) => `${line}\n`).join('');
}

const ESCAPE = '\u001B';
/** All but colours, which `paint` adds. */
// oxlint-disable-next-line no-control-regex
const CONTROL = new RegExp(`${ESCAPE}(?!\\[\\d+m)|[\\u0000-\\u0008\\u000A-\\u001A\\u001C-\\u001F\\u007F-\\u009F]`, 'g');

/** Messages come from hosts and workloads: nothing of theirs may steer the terminal. */
function harmless(line: string): string {
  return line.replaceAll(CONTROL, '?');
}
