import { Cron, CronPattern } from 'croner';
import type { WindowState } from '../../plan/facts/policies.ts';
import { toCroner } from './dialect.ts';
import type { Schedule } from './schedule.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The end of a window is looked for this many steps ahead, at least 41 days. A later end is found when it has come nearer. */
const FORESEEABLE_STEPS = 4000;

/** The offset of every time zone from UTC, and every change of it, is a multiple of this. */
const QUARTER_HOUR = 15 * MINUTE;

const DIALECT = { alternativeWeekdays: true, domAndDow: true, mode: '7-part' } as const;

/** A cron expression that still lacks its time zone. @param timeZone IANA name */
export type InZone = (timeZone: string) => Schedule;

/**
 * Parses seven cron fields, second to year. Where two consecutive seconds match, the expression is a window: updates may start while it
 * matches. Otherwise it is a trigger: a moment after which every node that waited for it may start. Undefined for any other text.
 */
export function cronExpression(expression: string): InZone | undefined {
  const normalised = toCroner(expression);
  if (normalised === undefined) return undefined;
  if (/^[* ]+$/.test(normalised)) return ANY_TIME;
  try {
    const pattern = new CronPattern(normalised, 'UTC', { mode: '7-part', alternativeWeekdays: true });
    return (timezone) => {
      const cron = new Cron(normalised, { ...DIALECT, timezone, paused: true });
      const step = timezone === 'UTC' ? stepOf(pattern) : Math.min(stepOf(pattern), QUARTER_HOUR);
      return isConsecutive(pattern.second) ? windowOf(cron, step) : triggerOf(cron);
    };
  } catch {
    return undefined;
  }
}

/** Always open. */
const ALWAYS: Schedule = { at: () => ({ open: true, triggeredAt: undefined, changesAt: undefined }) };

export const ANY_TIME: InZone = () => ALWAYS;

function isConsecutive(seconds: readonly number[]): boolean {
  return seconds.some((on, second) => on === 1 && seconds[second + 1] === 1);
}

function windowOf(cron: Cron, step: number): Schedule {
  return {
    at(now): WindowState {
      const second = Math.floor(now / SECOND) * SECOND;
      const open = cron.match(new Date(second));
      const changesAt = open ? endOf(cron, second, step) : nextRun(cron, second);
      return { open, triggeredAt: undefined, changesAt };
    },
  };
}

function triggerOf(cron: Cron): Schedule {
  return {
    at(now): WindowState {
      const [previous] = cron.previousRuns(1, new Date(Math.floor(now / SECOND) * SECOND + SECOND));
      return { open: false, triggeredAt: previous?.getTime(), changesAt: nextRun(cron, now) };
    },
  };
}

function nextRun(cron: Cron, after: number): number | undefined {
  return cron.nextRun(new Date(after))?.getTime();
}

/** The largest unit of time, by UTC, in which a window neither opens nor closes: the pattern has all smaller units. */
function stepOf({ second, minute, hour }: CronPattern): number {
  if (second.includes(0)) return SECOND;
  if (minute.includes(0)) return MINUTE;
  return hour.includes(0) ? HOUR : DAY;
}

function endOf(cron: Cron, openAt: number, step: number): number | undefined {
  let edge = Math.floor(openAt / step) * step + step;
  for (let steps = 0; steps < FORESEEABLE_STEPS; steps++, edge += step) {
    if (!cron.match(new Date(edge))) return edge;
  }
  return undefined;
}
