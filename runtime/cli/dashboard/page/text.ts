import { DAY_MS, durationText, MINUTE_MS } from '../../../lib/clock.ts';
import type { NodeRow } from '../wire.ts';

/** The appearance of a node: its state as far as a person is concerned. */
export const APPEARANCES = ['done', 'updating', 'waiting', 'blocked', 'failed', 'unreported'] as const;
export type Appearance = (typeof APPEARANCES)[number];

/** Each appearance has a shape and a word as well, because colour must not be the only sign. */
export const SIGNS: Readonly<Record<Appearance, readonly [shape: string, word: string]>> = {
  done: ['✓', 'up to date'],
  updating: ['↻', 'updating'],
  waiting: ['·', 'waiting'],
  blocked: ['‖', 'blocked'],
  failed: ['!', 'failed'],
  unreported: ['?', 'not reported'],
};

type Step = NonNullable<NodeRow['step']>;

const STEP_SIGNS: Readonly<Record<Step, string>> = {
  staging: '↓',
  staged: '↧',
  finishing: '◷',
  draining: '↘',
  rebooting: '↻',
  soaking: '◔',
  settling: '◕',
  returning: '↩',
};

export function appearanceOf({ standing, stuck }: Pick<NodeRow, 'standing' | 'stuck'>): Appearance {
  if (standing === 'upToDate') return 'done';
  if (standing === 'failed' || standing === 'unreported') return standing;
  return stuck ? 'blocked' : standing;
}

export function shapeOf(row: NodeRow): string {
  const appearance = appearanceOf(row);
  return appearance === 'updating' && row.step ? STEP_SIGNS[row.step] : SIGNS[appearance][0];
}

/** The state or step of a node, in a word or two. */
export function wordOf(row: NodeRow): string {
  const [, word] = SIGNS[appearanceOf(row)];
  return row.doing ?? word;
}

const SECOND_MS = 1000;

/** A rounded duration, for estimates. @param ms milliseconds */
export function roughText(ms: number): string {
  if (ms < MINUTE_MS) return durationText(Math.ceil(ms / SECOND_MS / 10) * 10 * SECOND_MS);
  return durationText(Math.round(ms / MINUTE_MS) * MINUTE_MS);
}

const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const exact = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** The time of day, and the day where that is another. */
export function timeText(at: number, now: number): string {
  return Math.abs(at - now) < DAY_MS / 2 ? time.format(at) : `${day.format(at)} ${time.format(at)}`;
}

export const exactText = (at: number): string => exact.format(at);
export const dayText = (at: number): string => day.format(at);

/** From what a node runs to what it is offered. */
export function versionText(runs: string | undefined, offered: string | undefined): string | undefined {
  return offered === undefined || offered === runs ? runs : `${runs ?? '?'} → ${offered}`;
}

export const countText = (count: number): string => count.toLocaleString('en');

export const plural = (count: number, word: string): string => `${countText(count)} ${word}${count === 1 ? '' : 's'}`;
