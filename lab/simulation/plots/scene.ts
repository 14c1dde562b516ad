import { type Moment, MOMENTS } from '../moment-names.ts';
import type { Phase } from '../types.ts';

/** A plot as it is told: `KIND PHASE MOMENT`, perhaps with when after it, and for how long where that decides; `;` between its faults. */
export type Told = string;

/** One fault of a plot. */
export interface Scene {
  readonly kind: string;
  readonly moment: Moment;
  readonly phase: Phase;
  /** How long after the moment, milliseconds: from, to. Within it unless told. */
  readonly after?: Range;
  /** How long it lasts, milliseconds: from, to. As its kind says unless told. */
  readonly lasts?: Range;
}

type Range = readonly [number, number];

/** Faults that come together: each is harmless by itself. */
export type Plot = readonly Scene[];

const SCENE = /^([\w-]+) (before|between|after) ([\w-]+)(?: (at once|soon|later|in \S+ \S+))?(?: for (\S+ \S+))?$/;
const WHEN: Readonly<Record<string, Range>> = { 'at once': [1, 100], soon: [100, 10_000], later: [5000, 120_000] };
const UNITS: Readonly<Record<string, number>> = { s: 1000, min: 60_000 };

/** @throws where that is no plot */
export const plotOf = (told: Told): Plot => told.split('; ').map(sceneOf);

function sceneOf(text: string): Scene {
  const [, kind = '', phase, moment = '', after, lasts] = SCENE.exec(text) ?? [];
  if (!(moment in MOMENTS)) throw new Error(`no scene: ${text}`);
  return {
    kind,
    moment: moment as Moment,
    phase: phase as Phase,
    ...(after !== undefined && { after: WHEN[after] ?? rangeOf(after.slice('in '.length)) }),
    ...(lasts !== undefined && { lasts: rangeOf(lasts) }),
  };
}

/** Of `2.5-8 min`. */
function rangeOf(text: string): Range {
  const [from = NaN, to = NaN] = text.split(/[- ]/).map(Number);
  const unit = UNITS[text.split(' ')[1] ?? ''] ?? NaN;
  if (!(from * unit <= to * unit)) throw new Error(`no range: ${text}`);
  return [from * unit, to * unit];
}
