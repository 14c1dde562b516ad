import { durationText } from '../../../lib/clock.ts';
import type { NodeRow } from '../wire.ts';

/** How a node looks. Two nodes that look alike are in the same state as far as a person is concerned. */
export const LOOKS = ['done', 'updating', 'waiting', 'blocked', 'failed', 'unreported'] as const;
export type Look = (typeof LOOKS)[number];

/** Colour is never the only sign: each has its own shape, and its word. */
export const LOOK_SIGNS: Readonly<Record<Look, readonly [shape: string, word: string]>> = {
  done: ['✓', 'up to date'],
  updating: ['↻', 'updating'],
  waiting: ['·', 'waiting'],
  blocked: ['‖', 'blocked'],
  failed: ['!', 'failed'],
  unreported: ['?', 'not reported'],
};

type Step = NonNullable<NodeRow['step']>;

export const STEP_SIGNS: Readonly<Record<Step, string>> = {
  staging: '↓',
  staged: '↧',
  draining: '↘',
  rebooting: '↻',
  soaking: '◔',
  returning: '↩',
};

export function lookOf({ standing, stuck }: Pick<NodeRow, 'standing' | 'stuck'>): Look {
  if (standing === 'upToDate') return 'done';
  if (standing === 'failed' || standing === 'unreported') return standing;
  return stuck ? 'blocked' : standing;
}

export function shapeOf(row: NodeRow): string {
  const look = lookOf(row);
  return look === 'updating' && row.step ? STEP_SIGNS[row.step] : LOOK_SIGNS[look][0];
}

/** What a node is at, in a word or two. */
export function wordOf(row: NodeRow): string {
  const [, word] = LOOK_SIGNS[lookOf(row)];
  return row.step ?? word;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** Of what is only estimated, no more than people would say. @param ms milliseconds */
export function roughText(ms: number): string {
  if (ms < MINUTE_MS) return durationText(Math.ceil(ms / SECOND_MS / 10) * 10 * SECOND_MS);
  return durationText(Math.round(ms / MINUTE_MS) * MINUTE_MS);
}

const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const exact = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

const DAY_MS = 86_400_000;

/** The time of day, and the day where that is another. */
export function timeText(at: number, now: number): string {
  return Math.abs(at - now) < DAY_MS / 2 ? time.format(at) : `${day.format(at)} ${time.format(at)}`;
}

export const exactText = (at: number): string => exact.format(at);
export const dayText = (at: number): string => day.format(at);

export const countText = (count: number): string => count.toLocaleString('en');

export const plural = (count: number, word: string): string => `${countText(count)} ${word}${count === 1 ? '' : 's'}`;
