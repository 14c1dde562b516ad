import type { Moment } from '../moment-names.ts';
import type { Phase } from '../types.ts';

/** One fault of a plot. */
export interface Scene {
  readonly kind: string;
  readonly moment: Moment;
  readonly phase: Phase;
  /** How long after the moment, milliseconds: from, to. Within it unless told. */
  readonly after?: Range;
  /** How long it lasts, milliseconds, where that decides: from, to. As its kind says unless told. */
  readonly lasts?: Range;
}

export type Range = readonly [number, number];

/** Faults that come together: each is harmless by itself. */
export type Plot = readonly Scene[];

const SECOND = 1000;
export const AT_ONCE = [1, 100] as const;
export const SOON = [100, 10 * SECOND] as const;
export const LATER = [5 * SECOND, 120 * SECOND] as const;

/** Minutes, from and to. */
export const minutes = (from: number, to: number): Range => [from * 60 * SECOND, to * 60 * SECOND];
export const seconds = (from: number, to: number): Range => [from * SECOND, to * SECOND];

export const scene = (kind: string, phase: Phase, moment: Moment, after?: Range): Scene => ({
  kind,
  moment,
  phase,
  ...(after && { after }),
});

export const lasting = (lasts: Range, made: Scene): Scene => ({ ...made, lasts });
