import type { Count, ReleaseCurve } from '../wire.ts';
import { timeText } from './text.ts';

/** Releases on their way: how many nodes their waves have reached, and how many run them. */
export function Curves({ curves, now }: { readonly curves: readonly ReleaseCurve[]; readonly now: number }) {
  if (curves.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="curves">
      <div class="head">
        <h2 id="curves">Releases on their way</h2>
        <ul class="keys" aria-hidden="true">
          <li class="next">may have it</li>
          <li>run it</li>
        </ul>
      </div>
      {curves.map((curve) => (
        <Curve key={`${curve.family} ${curve.version}`} curve={curve} now={now} />
      ))}
    </section>
  );
}

/** The height of the drawing, and its width. */
const HIGH = 40;
const WIDE = 100;

interface Place {
  readonly across: (at: number) => number;
  readonly up: (count: number) => number;
}

function Curve({ curve, now }: { readonly curve: ReleaseCurve; readonly now: number }) {
  const { family, version, nodes, says, waves, runs } = curve;
  const from = Math.min(now, ...waves.map(({ at }) => at));
  const to = Math.max(now, ...waves.map(({ at }) => at));
  const place: Place = {
    across: (at) => (WIDE * (at - from)) / Math.max(1, to - from),
    up: (count) => HIGH - ((HIGH - 2) * count) / Math.max(1, nodes),
  };
  return (
    <article class="curve">
      <h3>
        {version} <span class="family">{family}</span>
      </h3>
      <p>{says}</p>
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="now" x1={place.across(now)} x2={place.across(now)} y1="0" y2={HIGH} />
        <path class="came" d={pathOf(waves, to, place)} />
        <path class="runs" d={pathOf(runs, now, place)} />
      </svg>
      <p class="ends" aria-hidden="true">
        <span>{timeText(from, now)}</span>
        <span>{timeText(to, now)}</span>
      </p>
    </article>
  );
}

/** A step at each moment, and level up to the end. */
function pathOf(counts: readonly Count[], end: number, { across, up }: Place): string {
  const [first, ...steps] = counts;
  if (!first) return '';
  const drawn = steps.map(({ at, count }) => `H${across(at)}V${up(count)}`);
  return [`M${across(first.at)} ${up(first.count)}`, ...drawn, `H${across(end)}`].join('');
}
