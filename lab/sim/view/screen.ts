import { createLogUpdate } from 'log-update';
import { line, type Row, table, tableWidths } from './rows.ts';

/** Shows rows as they change: a live table on a terminal, a line per change elsewhere. */
export interface Screen {
  show(rows: readonly Row[]): void;
  /** A line that stays. */
  say(text: string): void;
  /** Leaves the last table standing. */
  end(): void;
}

export function createScreen(out: NodeJS.WriteStream): Screen {
  return out.isTTY ? liveScreen(out) : lineScreen(out);
}

function liveScreen(out: NodeJS.WriteStream): Screen {
  const live = createLogUpdate(out);
  let last: readonly Row[] = [];
  let widths: readonly number[] = [];
  const draw = (): void => {
    if (last.length > 0) live(table(last, out.columns, widths).join('\n'));
  };
  return {
    show: (rows) => {
      last = rows;
      widths = tableWidths(rows, widths);
      draw();
    },
    say: (text) => {
      live.clear();
      out.write(`${text}\n`);
      draw();
    },
    end: () => {
      last = [];
      live.done();
    },
  };
}

function lineScreen(out: NodeJS.WriteStream): Screen {
  const said = new Map<string, string>();
  return {
    show: (rows) => {
      for (const row of rows) {
        const text = line({ ...row, elapsedMs: undefined });
        if (said.get(row.node) !== text) out.write(`${line(row)}\n`);
        said.set(row.node, text);
      }
    },
    say: (text) => out.write(`${text}\n`),
    end: () => undefined,
  };
}
