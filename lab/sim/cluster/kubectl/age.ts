const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Up to `below` milliseconds a duration is shown in `big` units and, where `small` is given, the rest in those. */
interface Rule {
  readonly below: number;
  readonly big: readonly [suffix: string, ms: number];
  readonly small?: readonly [suffix: string, ms: number];
}

const RULES: readonly Rule[] = [
  { below: 2 * MINUTE, big: ['s', SECOND] },
  { below: 10 * MINUTE, big: ['m', MINUTE], small: ['s', SECOND] },
  { below: 3 * HOUR, big: ['m', MINUTE] },
  { below: 8 * HOUR, big: ['h', HOUR], small: ['m', MINUTE] },
  { below: 2 * DAY, big: ['h', HOUR] },
  { below: 8 * DAY, big: ['d', DAY], small: ['h', HOUR] },
  { below: 2 * YEAR, big: ['d', DAY] },
  { below: 8 * YEAR, big: ['y', YEAR], small: ['d', DAY] },
  { below: Infinity, big: ['y', YEAR] },
];

/** A duration (milliseconds) with the precision that Kubernetes shows: `45s`, `3m12s`, `5h`, `2d3h`. */
export function humanDuration(ms: number): string {
  if (ms < 0) return ms <= -2 * SECOND ? '<invalid>' : '0s';
  const rule = RULES.find(({ below }) => ms < below);
  if (!rule) return '<invalid>';
  const [suffix, unit] = rule.big;
  const whole = `${Math.floor(ms / unit)}${suffix}`;
  if (!rule.small) return whole;
  const rest = Math.floor((ms % unit) / rule.small[1]);
  return rest === 0 ? whole : `${whole}${rest}${rule.small[0]}`;
}

/** How long ago an RFC 3339 time was. */
export function age(time: unknown, nowMs: number): string {
  const then = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(then) ? '<unknown>' : humanDuration(nowMs - then);
}
