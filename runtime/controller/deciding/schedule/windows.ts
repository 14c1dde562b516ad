import type { Cron } from 'croner';
import { crontab } from '../../../api/policy/cron.ts';
import type { UpdateWindow } from '../../../api/policy/policy.ts';
import type { WindowState } from '../../plan/facts/policies.ts';
import { ANY_TIME } from './cron.ts';
import { cached, type Schedule } from './schedule.ts';

/**
 * Windows that follow one another without a gap never close. A gap is looked for until both limits are passed: so many openings, and so much
 * time. If none is found, the windows count as open, and are looked at again within a day.
 */
const FORESEEABLE_OPENINGS = 100;
const FORESEEABLE_MS = 26 * 3_600_000;
/** Most lookups at one time. Each takes some 60 µs, in which the process does nothing else. */
const MOST_LOOKUPS = 1000;

/** The moments at which a window opens, and for how long it is open then. */
interface Opening {
  readonly cron: Cron;
  readonly durationMs: number;
}

/**
 * Open while any of the windows is; always open where there is none.
 * - A window lasts as long as its duration says, also when the clocks are changed meanwhile.
 * - A start in the hour that is skipped in spring is when that hour would have ended.
 * - A start in the hour that is repeated in autumn is in the first of the two.
 * @param windows as `parsePolicy` reads them
 */
export function windowsSchedule(windows: readonly UpdateWindow[]): Schedule {
  if (windows.length === 0) return ANY_TIME('UTC');
  const openings = windows.flatMap(({ start, durationMs, timeZone }): Opening[] => {
    const cron = crontab(start, timeZone);
    return cron ? [{ cron, durationMs }] : [];
  });
  return cached({ at: (now) => stateOf(openings, now) });
}

function stateOf(openings: readonly Opening[], now: number): WindowState {
  if (latestEnd(openings, now) > now) return { open: true, triggeredAt: undefined, changesAt: endOf(openings, now) };
  const next = openings.flatMap(({ cron }) => cron.nextRun(new Date(now))?.getTime() ?? []);
  return { open: false, triggeredAt: undefined, changesAt: next.length > 0 ? Math.min(...next) : undefined };
}

/** When the last window ends among those that have opened by `time`. */
function latestEnd(openings: readonly Opening[], time: number): number {
  // croner finds runs before a moment, in whole seconds.
  const after = new Date(Math.floor(time / 1000) * 1000 + 1000);
  const ends = openings.flatMap(({ cron, durationMs }) =>
    cron.previousRuns(1, after).map((opened) => opened.getTime() + durationMs),
  );
  return Math.max(-Infinity, ...ends);
}

/**
 * When all windows are closed; undefined where no end is found within the time that is looked at. Where windows of a few minutes follow one
 * another, the answer may be too early. They are then asked again.
 */
function endOf(openings: readonly Opening[], now: number): number | undefined {
  let end = now;
  const isFar = (): boolean => end >= now + FORESEEABLE_MS;
  for (let looked = 0; looked * openings.length < MOST_LOOKUPS; looked++) {
    if (looked >= FORESEEABLE_OPENINGS && isFar()) break;
    const later = latestEnd(openings, end);
    if (later <= end) return end;
    end = later;
  }
  return isFar() ? undefined : end;
}
