import xterm, { type IBuffer, type IBufferCell } from '@xterm/headless';
import type { Recording } from './terminal.ts';

export type Style = 'plain' | 'bold' | 'faint' | 'prompt' | 'red' | 'yellow' | 'cyan';

/** A part of a line that looks alike. */
export interface Span {
  readonly column: number;
  readonly text: string;
  readonly style: Style;
}

export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A line as it was for some of the time. */
export interface LineShown {
  /** Counted from the first line that was ever written. */
  readonly row: number;
  readonly spans: readonly Span[];
  readonly shown: readonly Interval[];
}

/** What a recording shows, by line: what does not change is there once. */
export interface Film {
  readonly columns: number;
  readonly rows: number;
  readonly durationMs: number;
  readonly lines: readonly LineShown[];
  /** Which line is the uppermost, and from when. */
  readonly scrolled: readonly { readonly atMs: number; readonly row: number }[];
}

export interface Pace {
  /** Pauses are cut to this. */
  readonly longestPauseMs: number;
  /** How many times faster than life. */
  readonly speed: number;
  /** How long the end stays. */
  readonly holdMs: number;
}

/** Changes that are closer than this are one, so that no half-drawn table is seen. */
const FRAME_MS = 80;

/** Plays a recording on a terminal without a screen, and says what could be seen on it when. */
export async function film(recording: Recording, pace: Pace): Promise<Film> {
  const { columns, rows } = recording;
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const notes = new Notes();
  for (const { atMs, text } of frames(recording, pace)) {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    notes.take(terminal.buffer.active, { rows, atMs });
  }
  terminal.dispose();
  return { columns, rows, ...notes.end(pace.holdMs) };
}

/** What is written at once, on the time of the film. */
function frames({ events }: Recording, { longestPauseMs, speed }: Pace): readonly { atMs: number; text: string }[] {
  const joined: { atMs: number; text: string }[] = [];
  let [atMs, before] = [0, 0];
  for (const [seconds, text] of events) {
    atMs += Math.min(((seconds - before) * 1000) / speed, longestPauseMs);
    before = seconds;
    const last = joined.at(-1);
    if (last && atMs - last.atMs < FRAME_MS) last.text += text;
    else joined.push({ atMs: Math.round(atMs), text });
  }
  return joined;
}

/** What was seen so far. */
class Notes {
  /** By row: what it shows, and since when. */
  readonly #now = new Map<number, { readonly key: string; readonly fromMs: number }>();
  /** By row and content. */
  readonly #lines = new Map<string, { row: number; spans: readonly Span[]; shown: Interval[] }>();
  readonly #scrolled: { atMs: number; row: number }[] = [];
  #lastMs = 0;

  take(buffer: IBuffer, { rows, atMs }: { readonly rows: number; readonly atMs: number }): void {
    this.#lastMs = atMs;
    if (this.#scrolled.at(-1)?.row !== buffer.baseY) this.#scrolled.push({ atMs, row: buffer.baseY });
    for (let row = 0; row < buffer.baseY + rows; row++) this.#note(row, spansOf(buffer, row), atMs);
  }

  #note(row: number, spans: readonly Span[], atMs: number): void {
    const key = `${row} ${JSON.stringify(spans)}`;
    const before = this.#now.get(row);
    if (before?.key === key) return;
    this.#close(row, atMs);
    if (spans.length === 0) {
      this.#now.delete(row);
      return;
    }
    this.#now.set(row, { key, fromMs: atMs });
    if (!this.#lines.has(key)) this.#lines.set(key, { row, spans, shown: [] });
  }

  #close(row: number, toMs: number): void {
    const before = this.#now.get(row);
    if (before) this.#lines.get(before.key)?.shown.push({ fromMs: before.fromMs, toMs });
  }

  end(holdMs: number): Pick<Film, 'durationMs' | 'lines' | 'scrolled'> {
    const durationMs = this.#lastMs + holdMs;
    for (const row of this.#now.keys()) this.#close(row, durationMs);
    return { durationMs, lines: [...this.#lines.values()], scrolled: this.#scrolled };
  }
}

/** Columns of a table are parts of their own: where the reader's font is a little wider, they still begin where they should. */
function spansOf(buffer: IBuffer, row: number): readonly Span[] {
  const spans: { column: number; text: string; style: Style }[] = [];
  let end = -Infinity;
  for (const { column, chars, style } of written(buffer, row)) {
    const [last, gap] = [spans.at(-1), column - end];
    if (last?.style === style && gap < 2) last.text += ' '.repeat(gap) + chars;
    else spans.push({ column, text: chars, style });
    end = column + 1;
  }
  return spans;
}

/** What is not blank. */
function* written(buffer: IBuffer, row: number): Generator<{ column: number; chars: string; style: Style }> {
  const line = buffer.getLine(row);
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    const chars = cell?.getChars() ?? '';
    if (cell && chars.trim() !== '') yield { column, chars, style: styleOf(cell) };
  }
}

/** By number in the palette. */
const COLOURS: Readonly<Record<number, Style>> = { 1: 'red', 2: 'prompt', 3: 'yellow', 6: 'cyan' };

function styleOf(cell: IBufferCell): Style {
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor()] : undefined;
  if (colour !== undefined) return colour;
  if (cell.isBold()) return 'bold';
  return cell.isDim() ? 'faint' : 'plain';
}
