import { styleText } from 'node:util';

/** How lines are to look where they are read. */
export interface Look {
  /** Columns of the terminal; Infinity where it is none. */
  readonly columns: number;
  readonly colours: boolean;
}

/** Whoever reads with a program gets all columns and no colours. */
export const PLAIN: Look = { columns: Infinity, colours: false };

const STYLES = { good: 'green', busy: 'cyan', bad: 'red', late: 'yellow', head: 'bold', faint: 'dim' } as const;
type Style = keyof typeof STYLES;

/** A text that means something by its colour, for those who see it. */
export function paint({ colours }: Look, style: Style, text: string): string {
  return colours && text !== '' ? styleText(STYLES[style], text, { validateStream: false }) : text;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** @see https://no-color.org */
export function lookOf({ isTTY = false, columns }: Output, env: Readonly<Record<string, string | undefined>>): Look {
  if (!isTTY) return PLAIN;
  return { columns: columns || 80, colours: !env['NO_COLOR'] && env['TERM'] !== 'dumb' };
}

const ESCAPE = '\u001B';
/** What `paint` adds takes no columns. */
const COLOUR = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');

export const widthOf = (text: string): number => text.replaceAll(COLOUR, '').length;

/** Fills up with blanks on the right. */
export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

interface Room {
  readonly columns: number;
  /** Of every line but the first. */
  readonly indent: number;
}

/** A sentence in as many lines as it needs. Words are never cut, and blanks at its beginning stay. */
export function wrapped(text: string, { columns, indent }: Room): readonly string[] {
  const [first = '', ...words] = text.split(/(?<=\S) /);
  const lines = [first];
  for (const word of words) {
    const line = lines.at(-1) ?? '';
    if (widthOf(line) + 1 + widthOf(word) <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(' '.repeat(indent) + word.trimStart());
  }
  return lines;
}

/**
 * Rows under their head. Where there is not room for all columns, those on the right are left out: the first ones matter most.
 * @param indent columns that are kept free on the left
 */
export function table(rows: readonly (readonly string[])[], { columns }: Pick<Look, 'columns'>): readonly string[] {
  const widths = columnWidths(rows);
  const kept = fitting(widths, columns);
  return rows.map((row) =>
    row
      .slice(0, kept)
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
}

/** How many columns fit, one at least. */
function fitting(widths: readonly number[], columns: number): number {
  let used = -2;
  const over = widths.findIndex((width) => (used += width + 2) > columns);
  return over < 0 ? widths.length : Math.max(1, over);
}
