import { BEGINS_AT, type Instant, type Scenario } from '../types.ts';

/** How many, of how many there are. */
export type Quantity = (of: number) => number;

export type Rounding = 'concurrent' | 'failed' | 'proving';

const ROUNDED: Readonly<Record<Rounding, (share: number) => number>> = {
  concurrent: (share) => Math.max(1, Math.floor(share)),
  failed: (share) => Math.max(2, Math.ceil(share)),
  proving: (share) => Math.max(1, Math.ceil(share)),
};

/** Of `3`, `10%` or `unlimited`. */
export function quantity(text: string, rounding: Rounding): Quantity {
  if (text.toLowerCase() === 'unlimited') return () => Infinity;
  if (text.endsWith('%')) return (of) => ROUNDED[rounding]((Number(text.slice(0, -1)) * of) / 100);
  return () => Number(text);
}

/** The settings of a scenario as docs/deploying.md has them. Times are milliseconds. */
export interface Terms {
  readonly maxConcurrent: Quantity;
  readonly maxFailed: Quantity;
  /** Nodes on which a release has to be proven. */
  readonly proofNodes: Quantity;
  /** Whether an update has to be done before the window closes. */
  readonly fits: boolean;
  readonly soakMs: number;
  readonly soakTimeoutMs: number;
  readonly agentTimeoutMs: number;
  readonly returnTimeoutMs: number;
  readonly notReadyHoldMs: number;
  /** Infinity where drains have no end. */
  readonly drainTimeoutMs: number;
  readonly exclusionMs: number;
  /** 0 = volumes are not waited for. */
  readonly volumesMs: number;
  /** How long a pod that is ending is waited for past its time; Infinity = for as long as the drain lasts. */
  readonly stuckMs: number;
  readonly window: Window;
}

export function termsOf({ settings: { controller, apiserver, agent } }: Scenario): Terms {
  const seconds = (of: Readonly<Record<string, string>>, name: string, usual: number): number =>
    Number(of[name] ?? usual) * 1000;
  return {
    maxConcurrent: quantity(controller['MAX_CONCURRENT_UPDATE'] ?? '1', 'concurrent'),
    maxFailed: quantity(controller['MAX_FAILED_UPDATE'] ?? '10%', 'failed'),
    proofNodes: quantity(controller['PROOF_NODES'] ?? '1', 'proving'),
    fits: controller['WINDOW_FIT'] === 'strict',
    soakMs: seconds(controller, 'MONITORING_TIME_IN_SEC', 0),
    soakTimeoutMs: seconds(controller, 'MONITORING_TIMEOUT_IN_SEC', 900),
    agentTimeoutMs: seconds(controller, 'AGENT_TIMEOUT_IN_SEC', 900),
    returnTimeoutMs: seconds(controller, 'NODE_RETURN_TIMEOUT_IN_SEC', 900),
    notReadyHoldMs: seconds(controller, 'NOT_READY_HOLD_IN_SEC', 3600),
    drainTimeoutMs: seconds(apiserver, 'DRAIN_TIMEOUT_IN_SEC', 1800) || Infinity,
    volumesMs: seconds(apiserver, 'VOLUME_DETACH_TIMEOUT_IN_SEC', 120),
    stuckMs: seconds(apiserver, 'SKIP_WAIT_FOR_DELETE_TIMEOUT_IN_SEC', 300) || Infinity,
    exclusionMs: seconds(agent, 'EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC', 0),
    window: windowOf(controller),
  };
}

/** Whether updates may start at an instant. */
export type Window = (instant: Instant) => boolean;

const DAY = 86_400_000;
const LONGEST = new WeakMap<Window, number>();

/** For how long the window is open at most in two days, to the minute, milliseconds. */
export function longestOpening(window: Window): number {
  const known = LONGEST.get(window);
  if (known !== undefined) return known;
  let longest = 0;
  let current = 0;
  for (let instant = 0; instant < 2 * DAY; instant += MINUTE) {
    current = window(instant) ? current + MINUTE : 0;
    longest = Math.max(longest, current);
  }
  LONGEST.set(window, longest);
  return longest;
}

/** @throws RangeError on a schedule of moments, which this does not judge */
function windowOf(controller: Readonly<Record<string, string>>): Window {
  const cron = controller['SCHEDULER_CRON_EXPRESSION'] ?? '* * * * * * *';
  const { UPDATE_WINDOW_START: start, UPDATE_WINDOW_STOP: stop } = controller;
  if (!/^[*\s]+$/.test(cron)) return cronWindow(cron, controller['SCHEDULER_TIME_ZONE'] ?? 'UTC');
  return start && stop ? dailyWindow(start, stop) : () => true;
}

function dailyWindow(start: string, stop: string): Window {
  return (instant) => {
    const time = new Date(BEGINS_AT + instant).toISOString().slice(11, 19);
    return start < stop ? start <= time && time < stop : time >= start || time < stop;
  };
}

const UNITS = ['second', 'minute', 'hour', 'day', 'month', 'weekday', 'year'] as const;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Open in each second whose time fits all fields. */
function cronWindow(expression: string, timeZone: string): Window {
  if (!/^\s*\*\s/.test(expression)) throw new RangeError(`a schedule that no judge understands: ${expression}`);
  const fields = fieldsOf(expression);
  return (instant) => fit(fields, timeZone, BEGINS_AT + instant);
}

/**
 * Whether a time fits all seven fields; a week counts from Sunday = 1.
 * @param time milliseconds since the Unix epoch
 */
export function isWindowOpen(expression: string, timeZone: string, time: number): boolean {
  return fit(fieldsOf(expression), timeZone, time);
}

/**
 * Open from each minute that five fields of crontab name, for a while. Sunday is 0 or 7.
 * @param lastsMs how long, milliseconds
 */
export function crontabWindow(
  expression: string,
  { timeZone, lastsMs }: { readonly timeZone: string; readonly lastsMs: number },
): Window {
  const isStart = crontab(expression, timeZone);
  const known = new Map<number, boolean>();
  const starts = (minute: number): boolean => {
    const found = known.get(minute) ?? isStart(BEGINS_AT + minute * MINUTE);
    known.set(minute, found);
    return found;
  };
  return (instant) => {
    const latest = Math.floor(instant / MINUTE);
    for (let minute = latest; instant - minute * MINUTE < lastsMs; minute--) if (starts(minute)) return true;
    return false;
  };
}

const MINUTE = 60_000;
const LIMITS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** Whether somebody can obey it. */
export function isCrontab(expression: string, timeZone: string): boolean {
  const parts = named(expression).split(/\s+/);
  const isWithin = parts.every((part, index) =>
    [...part.replaceAll(/\/\d+/g, '').matchAll(/\d+/g)].every(([number]) => {
      const [least, most] = LIMITS[index] ?? [0, -1];
      return Number(number) >= least && Number(number) <= most;
    }),
  );
  return parts.length === LIMITS.length && isWithin && isTimeZone(timeZone);
}

function isTimeZone(name: string): boolean {
  try {
    return formatIn(name) !== undefined;
  } catch {
    return false;
  }
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** A week that begins on Monday may end with Sunday. */
function named(expression: string): string {
  const numbers = DAYS.reduce(
    (text, day, index) => text.replaceAll(day, String(index)),
    expression.trim().toLowerCase(),
  );
  return numbers.replace(/-0$/, '-7');
}

/** Whether a minute is named. @returns a function of milliseconds since the Unix epoch */
function crontab(expression: string, timeZone: string): (time: number) => boolean {
  const parts = named(expression).split(/\s+/);
  const [minute, hour, day, month, weekday] = parts.map(field);
  const isEither = parts[2] !== '*' && parts[4] !== '*';
  return (time) => {
    const at = partsIn(timeZone, time);
    const number = (unit: string): number => Number(at.get(unit));
    const [ofMonth, ofWeek] = [day?.(number('day')), isWeekday(weekday, WEEKDAYS.indexOf(at.get('weekday') ?? ''))];
    const isDay = isEither ? ofMonth || ofWeek : ofMonth && ofWeek;
    return (
      isDay === true && [minute?.(number('minute')), hour?.(number('hour')), month?.(number('month'))].every(Boolean)
    );
  };
}

const isWeekday = (fits: Field | undefined, day: number): boolean =>
  fits?.(day) === true || (day === 0 && fits?.(7) === true);

type Field = (value: number) => boolean;

const fieldsOf = (expression: string): readonly Field[] => expression.trim().split(/\s+/).map(field);

function fit(fields: readonly Field[], timeZone: string, time: number): boolean {
  const parts = partsIn(timeZone, time);
  return UNITS.every((unit, index) => {
    const value = parts.get(unit) ?? '';
    return fields[index]?.(unit === 'weekday' ? WEEKDAYS.indexOf(value) + 1 : Number(value)) ?? false;
  });
}

const partsIn = (timeZone: string, time: number): ReadonlyMap<string, string> =>
  new Map(
    formatIn(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value] as const),
  );

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric';
  const time = { hourCycle: 'h23', hour: numeric, minute: numeric, second: numeric } as const;
  const date = { year: numeric, month: numeric, day: numeric, weekday: 'short' } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-US', { timeZone, ...date, ...time });
  formats.set(timeZone, format);
  return format;
}

/** `*`, `5`, `1-3`, `* /2` and lists of them. */
function field(text: string): Field {
  const parts = text.split(',').map((part) => {
    const [range = '*', step = '1'] = part.split('/');
    const [from, to] = range === '*' ? [0, Infinity] : range.split('-').map(Number);
    const first = from ?? 0;
    const last = to ?? (part.includes('/') ? Infinity : first);
    return (value: number) => value >= first && value <= last && (value - first) % Number(step) === 0;
  });
  return (value) => parts.some((fits) => fits(value));
}
