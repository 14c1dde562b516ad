import { expect, test } from '@jest/globals';
import { film, type Pace } from '../../scripts/record/film.ts';
import { drawSvg } from '../../scripts/record/svg.ts';
import type { Recording } from '../../scripts/record/terminal.ts';

const PACE: Pace = { longestPauseMs: 2000, speed: 1, holdMs: 3000 };

const recording = (...events: Recording['events']): Recording => ({ columns: 20, rows: 2, events });

/** What is seen at each moment at which something changes, as a person at the terminal would. */
async function seen(taken: Recording, pace: Partial<Pace> = {}): Promise<readonly (readonly [number, string])[]> {
  const { rows, lines, scrolled, durationMs } = await film(taken, { ...PACE, ...pace });
  const moments = new Set([...lines.flatMap(({ shown }) => shown.map(({ fromMs }) => fromMs)), durationMs - 1]);
  return [...moments]
    .toSorted((a, b) => a - b)
    .map((ms) => {
      const top = scrolled.findLast(({ atMs }) => atMs <= ms)?.row ?? 0;
      const text = Array.from({ length: rows }, (_, index) => {
        const shown = lines.filter(
          (line) => line.row === top + index && line.shown.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs),
        );
        return shown.flatMap(({ spans }) => spans.map((span) => span.text)).join('|');
      });
      return [ms, text.join('/')];
    });
}

test('a table that is drawn again takes the place of the one before, and what has gone is gone', async () => {
  const taken = recording([0, 'a  1\r\n'], [1, '\u001B[1A\u001B[2Ka  2\r\nend'], [2, '\r\u001B[2K']);
  expect(await seen(taken)).toEqual([
    [0, 'a|1/'],
    [1000, 'a|2/end'],
    [4999, 'a|2/'],
  ]);
});

test('what does not fit scrolls up', async () => {
  expect(await seen(recording([0, 'one\r\ntwo'], [1, '\r\nthree']))).toEqual([
    [0, 'one/two'],
    [1000, 'two/three'],
    [3999, 'two/three'],
  ]);
});

test('a picture is not taken of half a redraw, and pauses are cut', async () => {
  const taken = recording([0, 'old'], [60, '\r\u001B[2K'], [60.02, 'new']);
  expect(await seen(taken)).toEqual([
    [0, 'old/'],
    [2000, 'new/'],
    [4999, 'new/'],
  ]);
});

test('twice as fast takes half of the time, but for the end', async () => {
  expect(await seen(recording([0, 'a'], [2, 'b']), { speed: 2 })).toEqual([
    [0, 'a/'],
    [1000, 'ab/'],
    [3999, 'ab/'],
  ]);
});

test('the same recording is the same picture, which holds each line once and is text, not markup', async () => {
  const taken = recording([0, '\u001B[1;32m$\u001B[0m a < b && c\r\n'], [1, 'x'], [2, '\rx']);
  const draw = async (): Promise<string> => drawSvg([{ title: '"a" & b', film: await film(taken, PACE) }], 'said');
  const svg = await draw();
  expect(svg).toBe(await draw());
  expect(svg.match(/a &lt; b &amp;&amp; c/g)).toHaveLength(1);
  expect(svg).toContain('class="prompt">$<');
  expect(svg).toContain('&quot;a&quot; &amp; b');
  expect(svg).not.toMatch(/<script|href|NaN|undefined/);
});

test('scenes follow each other: where nothing moves, the end of the last one is seen and nothing of the others', async () => {
  const scene = async (text: string) => ({ title: text, film: await film(recording([0, text]), PACE) });
  const svg = drawSvg([await scene('first'), await scene('second')], 'two scenes');
  const still = (text: string): string | undefined => {
    const [, name] = new RegExp(`class="(k\\d+)"><tspan[^>]*>${text}<`).exec(svg) ?? [];
    return new RegExp(`\\.${name}\\{([^;]*);`).exec(svg)?.[1];
  };
  expect([still('first'), still('second')]).toEqual(['visibility:hidden', 'visibility:visible']);
});
