import { durationText } from '../../../lib/clock.ts';
import type { Bar, Sections } from '../wire.ts';
import { NodeName } from './parts.tsx';
import { ticksIn, type View, viewOf } from './scale.ts';
import { countText, exactText, timeText } from './text.ts';

interface TimelineProps {
  readonly timeline: Sections['timeline'];
  readonly now: number;
}

/** The timeline: past updates, running ones, and the forecast. */
export function Timeline({ timeline: { bars, leftOut }, now }: TimelineProps) {
  const view = viewOf(bars, now);
  const shown = bars.filter(({ from, to = now }) => to >= view.from && from <= view.to);
  // Only past updates are out of view.
  const missing = leftOutText({ ...leftOut, past: leftOut.past + bars.length - shown.length });
  return (
    <section class="panel" aria-labelledby="timeline">
      <div class="head">
        <h2 id="timeline">Timeline</h2>
        <ul class="keys" aria-hidden="true">
          <li class="done">done</li>
          <li class="running">going on</li>
          <li class="next">foreseen</li>
          <li class="failed">failed</li>
        </ul>
      </div>
      {shown.length === 0 ? (
        <p class="empty">No update is known of the last hours, and none is ahead.</p>
      ) : (
        <div class="gantt">
          <Scale view={view} now={now} />
          <ol>
            {shown.map((bar) => (
              <Line key={`${bar.node} ${bar.kind}`} bar={bar} now={now} view={view} />
            ))}
          </ol>
        </div>
      )}
      {missing !== '' && <p class="faint">Not shown: {missing}.</p>}
    </section>
  );
}

/** How many nodes have no bar; empty where all have one. */
function leftOutText({ past, running, waiting }: Sections['timeline']['leftOut']): string {
  const counts = [
    [running, 'goes on', 'go on'],
    [past, 'ended earlier', 'ended earlier'],
    [waiting, 'waits', 'wait'],
  ] as const;
  const said = counts.filter(([count]) => count > 0);
  return said.map(([count, one, several]) => `${countText(count)} that ${count === 1 ? one : several}`).join(', ');
}

/** The position of a moment in the view, percent. */
const placeIn = ({ from, to }: View, at: number): number => ((at - from) / (to - from)) * 100;

function Scale({ view, now }: { readonly view: View; readonly now: number }) {
  const ticks = ticksIn(view).map(({ at, text }) => ({ at, text, style: { left: `${placeIn(view, at)}%` } }));
  return (
    <>
      <div class="scale" aria-hidden="true">
        {ticks.map(({ at, text, style }) => (
          <span key={at} style={style}>
            {text}
          </span>
        ))}
      </div>
      <div class="field" aria-hidden="true">
        {ticks.map(({ at, style }) => (
          <i key={at} style={style} />
        ))}
        <b style={{ left: `${placeIn(view, now)}%` }} />
      </div>
    </>
  );
}

interface LineProps {
  readonly bar: Bar;
  readonly now: number;
  readonly view: View;
}

function Line({ bar, now, view }: LineProps) {
  const said = SAID[bar.kind](bar, now);
  const { left, right, passed } = extentOf(bar, now, view);
  return (
    <li>
      <NodeName name={bar.node} />
      <span class="hidden">{said}</span>
      <span class="track" aria-hidden="true">
        <span class={`span ${bar.kind}`} title={said} style={{ left: `${left}%`, width: `${right - left}%` }}>
          {passed !== undefined && <span class="passed" style={{ width: `${passed}%` }} />}
        </span>
        {bar.kind === 'running' && <Note bar={bar} now={now} left={left} right={right} />}
      </span>
    </li>
  );
}

interface Extent {
  readonly left: number;
  readonly right: number;
  /** The part of a running update that is over, percent; undefined for other bars. */
  readonly passed: number | undefined;
}

const within = (percent: number): number => Math.min(100, Math.max(0, percent));

/** The bar of a running update is solid up to now, and light up to its estimated end. */
function extentOf({ kind, from, to: until }: Bar, now: number, view: View): Extent {
  const to = until ?? now;
  const isRunning = kind === 'running';
  const end = isRunning ? Math.max(to, now) : to;
  const [left, right] = [within(placeIn(view, from)), within(placeIn(view, end))];
  const reached = within(placeIn(view, now));
  const passed = isRunning ? within(((reached - left) / Math.max(0.1, right - left)) * 100) : undefined;
  return { left, right, passed };
}

interface NoteProps extends Pick<Extent, 'left' | 'right'> {
  readonly bar: Bar;
  readonly now: number;
}

/** Beyond this position, percent, there is no room for a word after the bar. */
const FAR = 75;

/** An update that takes this many times as long as others did gets a remark. */
const LATE = 1.25;

function Note({ bar: { doing, from, to = Infinity }, now, left, right }: NoteProps) {
  const text = `${doing ?? ''}${now - from > (to - from) * LATE ? ', longer than usual' : ''}`;
  if (right > FAR)
    return (
      <span class="word before" style={{ right: `${100 - left}%` }}>
        {text}
      </span>
    );
  return (
    <span class="word" style={{ left: `${right}%` }}>
      {text}
    </span>
  );
}

/** The bars in words, for screen readers. */
const SAID: Readonly<Record<Bar['kind'], (bar: Bar, now: number) => string>> = {
  done: ({ from, to = from }) => `updated from ${exactText(from)} to ${exactText(to)}, in ${durationText(to - from)}`,
  failed: ({ from, to = from }) => `failed at ${exactText(to)}${to > from ? `, after ${durationText(to - from)}` : ''}`,
  running: ({ from, to = 0, doing }, now) => {
    const end = to > now ? `, until about ${timeText(to, now)}` : '';
    return `${doing ?? 'updating'} since ${exactText(from)}${end}`;
  },
  next: ({ from }, now) => `may start at ${timeText(from, now)}`,
};
