const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration as people say it, in its two largest units, e.g. `4 min 17 s`. @param ms milliseconds; a negative number counts as 0 */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  if (first < 0) return '0 s';
  const parts = UNITS.slice(first, first + 2).map(([unit, length], index) => {
    const above = UNITS[first + index - 1]?.[1] ?? Infinity;
    return [Math.floor((index === 0 ? seconds : seconds % above) / length), unit] as const;
  });
  return parts
    .filter(([count]) => count > 0)
    .map((part) => part.join(' '))
    .join(' ');
}
