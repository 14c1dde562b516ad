import type { Asked } from './arguments.ts';
import { EXIT, type ExitCode, type Request } from './command.ts';
import { explained } from './errors.ts';
import { paint } from './look.ts';
import { textOf } from './output.ts';
import type { Surroundings } from './program.ts';

/** The time between two looks, milliseconds: at least, and at most. */
const PAUSE_MS = { least: 2000, most: 15_000 };
/** A fleet that takes long to read is looked at less often: so many times as long goes by between two looks. */
const RESTS = 4;

/** Milliseconds until the next look. @param took what the last one took */
export const pauseAfter = (took: number): number => Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, took * RESTS));

interface Watched {
  readonly asked: Asked;
  readonly request: Request;
  readonly world: Surroundings;
}

/** Asks again and again, until the signal aborts. What was seen last stays on view while the cluster does not answer. */
export async function watching({ asked: { command, format }, request, world }: Watched): Promise<ExitCode> {
  const { clock, signal } = world;
  let shown = '';
  let begun = clock.monotonic();
  // The first answer tells whether what was asked for can be at all.
  let answer = await command.run(request);
  let failure: unknown;
  for (;;) {
    const took = clock.monotonic() - begun;
    const look = world.look();
    const trouble = failure === undefined ? '' : `${paint(look, 'bad', explained(failure))}\n`;
    const text = textOf(answer, format, look) + trouble;
    if (text !== shown) world.redraw(text);
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
