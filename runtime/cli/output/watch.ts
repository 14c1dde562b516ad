import type { Invocation } from '../arguments.ts';
import { EXIT, type ExitCode, type CommandRequest, type ProgramContext } from '../command.ts';
import { explain } from '../errors.ts';
import { fittedTo, paint } from './terminal.ts';
import { textOf } from './output.ts';

/** Shortest and longest pause between two reads of the cluster, milliseconds. */
const PAUSE_MS = { least: 2000, most: 15_000 };
/** The pause is this many times as long as the last read took, so that a large fleet is read less often. */
const PAUSE_FACTOR = 4;

/** Milliseconds until the next read. @param took duration of the last read, milliseconds */
export const pauseAfter = (took: number): number =>
  Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, took * PAUSE_FACTOR));

interface Watched {
  readonly invocation: Invocation;
  readonly request: CommandRequest;
  readonly context: ProgramContext;
}

/** Runs the command again and again until the signal aborts. While the cluster does not answer, the last result stays on view. */
export async function watch({ invocation: { command, format }, request, context }: Watched): Promise<ExitCode> {
  const { clock, signal } = context;
  let shown = '';
  let begun = clock.monotonic();
  // A failure of the first run ends the program, because the command itself may be wrong.
  let answer = await command.run(request);
  let failure: unknown;
  for (;;) {
    const took = clock.monotonic() - begun;
    const terminal = context.terminal();
    const trouble = failure === undefined ? '' : `${paint(terminal, 'bad', explain(failure))}\n`;
    const said = textOf(answer, format, terminal) + trouble;
    const text = `${fittedTo(terminal, said.trimEnd().split('\n')).join('\n')}\n`;
    if (text !== shown) context.redraw(text);
    shown = text;
    await clock.sleep(pauseAfter(took), signal).catch(() => undefined);
    if (signal.aborted) return EXIT.ok;
    begun = clock.monotonic();
    failure = undefined;
    answer = await command.run(request).catch((error: unknown) => {
      failure = error;
      return answer;
    });
  }
}
