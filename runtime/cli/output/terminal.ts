import { styleText } from 'node:util';

/** Properties of the terminal that lines are made for. */
export interface Terminal {
  /** Width in columns; Infinity where the output is no terminal. */
  readonly columns: number;
  readonly colours: boolean;
  /** Height in lines. @default no limit */
  readonly rows?: number;
}

/** For output to a file or a pipe: no limit of width, no colours. */
export const PLAIN: Terminal = { columns: Infinity, colours: false };

const STYLES = { good: 'green', busy: 'cyan', bad: 'red', late: 'yellow', head: 'bold', faint: 'dim' } as const;
type Style = keyof typeof STYLES;

/** Colours a text by its meaning, where the terminal shows colours. */
export function paint({ colours }: Terminal, style: Style, text: string): string {
  return colours && text !== '' ? styleText(STYLES[style], text, { validateStream: false }) : text;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** @see https://no-color.org */
export function terminalOf(
  { isTTY = false, columns, rows }: Output,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  if (!isTTY) return PLAIN;
  return { columns: columns || 80, colours: !env['NO_COLOR'] && env['TERM'] !== 'dumb', ...(rows && { rows }) };
}

const ESCAPE = '\u001B';
/** The escape sequences of `paint`, which take no columns. */
const COLOUR = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');

const widthOf = (text: string): number => text.replaceAll(COLOUR, '').length;

/** Pads with blanks on the right. */
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

interface Wrapping {
  readonly columns: number;
  /** Blanks before every line but the first. */
  readonly indent: number;
}

/** Breaks a sentence into lines. It cuts no words, and keeps blanks at the beginning. */
export function wrapped(text: string, { columns, indent }: Wrapping): readonly string[] {
  const [first = '', ...words] = text.split(/(?<=\S) /);
  const lines = [first];
  for (const word of words) {
    const line = lines.at(-1) ?? '';
    if (widthOf(line) + 1 + widthOf(word) <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(' '.repeat(indent) + word.trimStart());
  }
  return lines;
}

/** Aligns the cells of all rows. Where the terminal is too narrow, the columns on the right are left out, because the first ones matter most. */
export function table(rows: readonly (readonly string[])[], { columns }: Pick<Terminal, 'columns'>): readonly string[] {
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

/** How many columns of the table fit, at least one. */
function fitting(widths: readonly number[], columns: number): number {
  let used = -2;
  const over = widths.findIndex((width) => (used += width + 2) > columns);
  return over < 0 ? widths.length : Math.max(1, over);
}

/** Whether every column of the table has room. */
export const hasRoom = (rows: readonly (readonly string[])[], { columns }: Pick<Terminal, 'columns'>): boolean => {
  const widths = columnWidths(rows);
  return fitting(widths, columns) === widths.length;
};

/** The lines that the terminal has room for. What comes first matters most, so the others are only counted. */
export function fittedTo({ rows = Infinity }: Pick<Terminal, 'rows'>, lines: readonly string[]): readonly string[] {
  // The cursor stands on a line of its own.
  const room = rows - 1;
  if (lines.length <= room) return lines;
  const shown = Math.max(1, room - 1);
  return [...lines.slice(0, shown), `... ${lines.length - shown} more lines, which a taller window shows; q to quit`];
}
