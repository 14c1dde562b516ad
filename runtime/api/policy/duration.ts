/** Durations as Go and Kubernetes' Gateway API write them, without fractions and signs: `90s`, `1h30m`. */
export const DURATION_PATTERN = '^([0-9]{1,5}(h|m|s)){1,4}$';

const DURATION = new RegExp(DURATION_PATTERN);
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000 };

/** Milliseconds; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)([hms])/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}
