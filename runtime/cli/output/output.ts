import { stringify } from 'yaml';
import type { Ahead, Verdict } from '../../controller/plan/facts/verdict.ts';
import type { Reason } from '../../controller/plan/facts/reasons.ts';
import { durationText, rfc3339 } from '../../lib/clock.ts';
import type { Answer } from '../command.ts';
import { paint, type Terminal } from './terminal.ts';

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** Of the JSON and YAML output. A field that goes or changes its meaning makes it v2; one that is added does not. */
export const OUTPUT_VERSION = 'cli.brupop.bottlerocket.aws/v1';

/** The text of an answer, with its newlines; empty for a table without lines. */
export function textOf(answer: Answer, format: Format, terminal: Terminal): string {
  const value = { apiVersion: OUTPUT_VERSION, ...answer.value };
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  // The detour over JSON leaves out undefined values and turns infinite ones into null, as in the JSON output.
  if (format === 'yaml') return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
  const lines = answer.lines(terminal).map(sanitized);
  return lines.map((line) => `${line}\n`).join('');
}

const ESCAPE = '\u001B';
/** Control characters, without the colours that `paint` adds. */
// oxlint-disable-next-line no-control-regex
const CONTROL = new RegExp(`${ESCAPE}(?!\\[\\d+m)|[\\u0000-\\u0008\\u000A-\\u001A\\u001C-\\u001F\\u007F-\\u009F]`, 'g');

/** Replaces control characters, because messages come from hosts and workloads, which must not control the terminal. */
function sanitized(line: string): string {
  return line.replaceAll(CONTROL, '?');
}

/** A time for programs, as RFC 3339. @param instant milliseconds since the Unix epoch; 0 or infinite where it is not known */
export function timeValue(instant: number | undefined): string | undefined {
  return instant === undefined || instant === 0 || !Number.isFinite(instant) ? undefined : rfc3339(instant);
}

/** A verdict for programs. */
export function verdictValue({ since, until, newer, ...verdict }: Verdict): object {
  return {
    ...verdict,
    since: timeValue(since),
    until: timeValue(until),
    ...(newer && { newer: { reason: newer.reason, message: newer.message } }),
  };
}

/** When time alone may end what a verdict says. @param ms from now */
export const untilText = (reason: Reason, ms: number): string =>
  reason === 'DrainBlocked' ? `for ${durationText(ms)} more at most` : `in ${durationText(ms)}`;

/** What becomes of a node while it waits, or what its last update has left undone; undefined where there is nothing to say. */
export function meanwhileText({
  ahead,
  isAvoided,
  isArriving,
  notBack,
}: Pick<Verdict, 'ahead' | 'isAvoided' | 'isArriving' | 'notBack'>): string | undefined {
  const said = [
    isArriving && 'arriving: no pod comes yet',
    ahead && aheadText(ahead),
    isAvoided && 'new pods prefer other nodes',
    notBack && `not back in time after its update: ${notBack}`,
  ].filter(Boolean);
  return said.length > 0 ? said.join(', ') : undefined;
}

function aheadText({ version, isStaged, error }: Ahead): string {
  if (isStaged) return `${version} is staged ahead`;
  return error === undefined ? `${version} is being staged ahead` : `not staged ahead: ${error}`;
}

/** The first `most` texts, and how many more there are. */
export function firstOf(texts: readonly string[], most: number): string {
  const shown = texts.slice(0, most).join(', ');
  return texts.length > most ? `${shown} and ${texts.length - most} more` : shown;
}

/** Facts that are not known, a line each. */
export const unknownLines = (unknown: readonly string[], terminal: Terminal): readonly string[] =>
  unknown.map((one) => paint(terminal, 'late', `not known: ${one}`));
