import type { Film, Interval, LineShown, Span } from './film.ts';

/** A film and what its window is called. */
export interface Scene {
  readonly title: string;
  readonly film: Film;
}

const CHAR = 8.5;
const LINE = 20;
const PADDING = 16;
const BAR = 36;
const FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/** Draws scenes, one after the other and then again from the first, as an SVG that moves by CSS alone. */
export function drawSvg(scenes: readonly Scene[], description: string): string {
  const rows = Math.max(...scenes.map(({ film }) => film.rows));
  const columns = Math.max(...scenes.map(({ film }) => film.columns));
  const size = { width: Math.ceil(columns * CHAR) + 2 * PADDING, height: rows * LINE + BAR + PADDING };
  const durationMs = scenes.reduce((sum, { film }) => sum + film.durationMs, 0);
  const animations = new Animations(durationMs);
  let startMs = 0;
  const drawn: string[] = [];
  for (const scene of scenes) {
    drawn.push(drawScene(scene, startMs, animations));
    startMs += scene.film.durationMs;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img" aria-label="${escaped(description)}">`,
    `<style>${STYLE}${animations.css()}</style>`,
    `<rect x=".5" y=".5" width="${size.width - 1}" height="${size.height - 1}" rx="10" class="w"/>`,
    `<path d="M1 ${BAR - 4}H${size.width - 1}" class="b"/>`,
    ...[0, 1, 2].map((dot) => `<circle cx="${PADDING + 6 + dot * 20}" cy="${(BAR - 4) / 2}" r="6" class="d"/>`),
    `<clipPath id="c"><path d="M0 ${BAR}H${size.width}V${size.height - PADDING / 2}H0z"/></clipPath>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

const STYLE = [
  `text{font:14px ${FONT};white-space:pre;fill:#d6deeb}`,
  '.w{fill:#11161f;stroke:#3b4454}',
  '.b{stroke:#2a3240}',
  '.d{fill:#3b4454}',
  '.t{fill:#8b98ab;text-anchor:middle}',
  '.bold{font-weight:700}',
  '.faint{fill:#8b98ab}',
  '.prompt{fill:#5fd38a;font-weight:700}',
  '.red{fill:#ff7b72}',
  '.yellow{fill:#e3b341}',
  '.cyan{fill:#56c8d8}',
  '@media(prefers-reduced-motion:reduce){*{animation:none!important}}',
].join('');

function drawScene({ title, film }: Scene, startMs: number, animations: Animations): string {
  const whole = { fromMs: startMs, toMs: startMs + film.durationMs };
  const middle = (film.columns * CHAR) / 2 + PADDING;
  const scroll = animations.scrolled(film.scrolled.map(({ atMs, row }) => ({ atMs: atMs + startMs, up: row * LINE })));
  return [
    `<text x="${middle}" y="21" class="t ${animations.shown([whole])}">${escaped(title)}</text>`,
    `<g clip-path="url(#c)"><g class="${scroll}">`,
    ...film.lines.map((line) => drawLine(line, startMs, animations)),
    '</g></g>',
  ].join('\n');
}

function drawLine({ row, spans, shown }: LineShown, startMs: number, animations: Animations): string {
  const intervals = shown.map(({ fromMs, toMs }) => ({ fromMs: fromMs + startMs, toMs: toMs + startMs }));
  const parts = spans.map(drawSpan).join('');
  return `<text y="${BAR + 16 + row * LINE}" class="${animations.shown(intervals)}">${parts}</text>`;
}

function drawSpan({ column, text, style }: Span): string {
  const look = style === 'plain' ? '' : ` class="${style}"`;
  return `<tspan x="${PADDING + column * CHAR}"${look}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/**
 * Classes of what moves at the same moments. All steps are on one time line, so that no moment shows half of a change. Where nothing moves,
 * because the reader wants it so or the viewer cannot, the end is seen.
 */
class Animations {
  readonly #durationMs: number;
  /** By keyframes. */
  readonly #classes = new Map<string, { readonly name: string; readonly end: string }>();

  constructor(durationMs: number) {
    this.#durationMs = durationMs;
  }

  /** Seen in these intervals alone. */
  shown(intervals: readonly Interval[]): string {
    const changes = intervals.flatMap(({ fromMs, toMs }) => [
      { atMs: fromMs, style: 'visibility:visible' },
      { atMs: toMs, style: 'visibility:hidden' },
    ]);
    const begin = changes[0]?.atMs === 0 ? [] : [{ atMs: 0, style: 'visibility:hidden' }];
    return this.#classOf([...begin, ...changes.filter(({ atMs }) => atMs < this.#durationMs)]);
  }

  /** Higher by so many pixels from these moments on. */
  scrolled(moves: readonly { readonly atMs: number; readonly up: number }[]): string {
    return this.#classOf(moves.map(({ atMs, up }) => ({ atMs, style: `transform:translateY(${-up}px)` })));
  }

  #classOf(changes: readonly { readonly atMs: number; readonly style: string }[]): string {
    const keyframes = changes.map(({ atMs, style }) => `${this.#percent(atMs)}%{${style}}`).join('');
    const name = this.#classes.get(keyframes)?.name ?? `k${this.#classes.size}`;
    this.#classes.set(keyframes, { name, end: changes.at(-1)?.style ?? '' });
    return name;
  }

  #percent(ms: number): number {
    return Number(((ms / this.#durationMs) * 100).toFixed(3));
  }

  css(): string {
    const seconds = this.#durationMs / 1000;
    const rules = Array.from(
      this.#classes,
      ([keyframes, { name, end }]) =>
        `.${name}{${end};animation:${name} ${seconds}s step-end infinite}@keyframes ${name}{${keyframes}}`,
    );
    return rules.join('\n');
  }
}
