import type { Bar } from '../wire.ts';
import { dayText, exactText, timeText } from './text.ts';

/** A part of time, in milliseconds since the Unix epoch. */
export interface View {
  readonly from: number;
  readonly to: number;
}

/** The past gets at most this many times the width of the future, but at least the last minutes. */
const PAST_SHARE = 1.5;
const LEAST_MS = 180_000;

/** The visible part of time. The distant past is left out where it would take the room of the future. */
export function viewOf(bars: readonly Bar[], now: number): View {
  const last = Math.max(now, ...bars.map(({ to, from }) => to ?? from));
  const first = Math.min(now, ...bars.map(({ from }) => from));
  const isAhead = bars.some(({ kind }) => kind === 'running' || kind === 'next');
  const running = bars.filter(({ kind }) => kind === 'running').map(({ from }) => now - from);
  const most = isAhead ? Math.max(LEAST_MS, (last - now) * PAST_SHARE, ...running) : now - first;
  const view = { from: Math.max(first, now - most), to: last };
  const margin = Math.max(1000, (view.to - view.from) * 0.02);
  return { from: view.from - margin, to: view.to + margin };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[5, 10, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90].map((count) => count * DAY),
];
const MOST_TICKS = 7;

/** The lines of the time axis, at round times of the reader's time zone, with their labels. */
export function ticksIn({ from, to }: View): readonly { readonly at: number; readonly text: string }[] {
  const step = STEPS.find((one) => (to - from) / one <= MOST_TICKS) ?? 365 * DAY;
  const zone = new Date(from).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - zone) / step) * step + zone;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * step;
    return { at, text: labelOf(at, step) };
  });
}

function labelOf(at: number, step: number): string {
  if (step >= DAY) return dayText(at);
  return step < MINUTE ? exactText(at) : timeText(at, at);
}
