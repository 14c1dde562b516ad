/** A line of a chart, with its points marked unless it is one to compare with. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly colour: string;
  readonly isReference?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
}

const WIDTH = 640;
const HEIGHT = 400;
const PLOT = { left: 70, right: 620, top: 40, bottom: 350 } as const;

/** An SVG with logarithmic axes, on which growth by a power is a straight line. The same numbers give the same text. */
export function logLogChart({ title, x, y, series }: Chart): string {
  const points = series.flatMap((one) => one.points);
  const across = axis(
    points.map(([value]) => value),
    PLOT.left,
    PLOT.right,
  );
  const up = axis(
    points.map(([, value]) => value),
    PLOT.bottom,
    PLOT.top,
  );
  const place = ([px, py]: readonly [number, number]): string => `${across.at(px)},${up.at(py)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(title, { x: WIDTH / 2, y: 22 }),
    ...across.ticks.map((tick) =>
      line({ from: `${across.at(tick)},${PLOT.top}`, to: `${across.at(tick)},${PLOT.bottom}` }),
    ),
    ...across.ticks.map((tick) => text(label(tick), { x: across.at(tick), y: PLOT.bottom + 18 })),
    ...up.ticks.map((tick) => line({ from: `${PLOT.left},${up.at(tick)}`, to: `${PLOT.right},${up.at(tick)}` })),
    ...up.ticks.map((tick) => text(label(tick), { x: PLOT.left - 24, y: up.at(tick) + 4 })),
    text(x, { x: WIDTH / 2, y: HEIGHT - 10 }),
    text(y, { x: PLOT.left - 24, y: PLOT.top - 12 }),
    ...series.flatMap((one, index) => drawn(one, { place, index })),
    '</svg>',
    '',
  ].join('\n');
}

interface Axis {
  /** Where a value lies, to a tenth of a unit. */
  at(value: number): number;
  /** Powers of ten. */
  readonly ticks: readonly number[];
}

function axis(values: readonly number[], start: number, end: number): Axis {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    at: (value) => Math.round((start + ((Math.log10(value) - low) / (high - low)) * (end - start)) * 10) / 10,
    ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
  };
}

interface Placing {
  readonly place: (point: readonly [number, number]) => string;
  readonly index: number;
}

function drawn({ name, points, colour, isReference = false }: Series, { place, index }: Placing): readonly string[] {
  const dashes = isReference ? ' stroke-dasharray="6 4"' : '';
  const path = `<polyline points="${points.map(place).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>`;
  const dots = isReference ? [] : points.map((point) => dot(place(point), colour));
  const y = PLOT.top + 20 + index * 18;
  return [path, ...dots, `<text x="${PLOT.left + 12}" y="${y}" fill="${colour}">${name}</text>`];
}

function dot(place: string, colour: string): string {
  const [cx, cy] = place.split(',');
  return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`;
}

function line({ from, to }: { readonly from: string; readonly to: string }): string {
  return `<polyline points="${from} ${to}" stroke="#ddd"/>`;
}

function text(what: string, { x, y }: { readonly x: number; readonly y: number }): string {
  return `<text x="${x}" y="${y}" text-anchor="middle">${what}</text>`;
}

const label = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
