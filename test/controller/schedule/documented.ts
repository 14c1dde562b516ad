/**
 * What a cron expression says, by the documented rules of the library that existing installations wrote theirs for, and by nothing else: seven
 * fields, seconds to year; a field is a list of `*`, `?`, a value, a range, or one of these with a step; Sunday is day 1; every field must match.
 */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  /** The value of the field at a moment, UTC. */
  readonly at: (moment: Date) => number;
}

export const FIELDS: readonly Field[] = [
  { min: 0, max: 59, at: (moment) => moment.getUTCSeconds() },
  { min: 0, max: 59, at: (moment) => moment.getUTCMinutes() },
  { min: 0, max: 23, at: (moment) => moment.getUTCHours() },
  { min: 1, max: 31, at: (moment) => moment.getUTCDate() },
  { min: 1, max: 12, names: MONTHS, at: (moment) => moment.getUTCMonth() + 1 },
  { min: 1, max: 7, names: DAYS, at: (moment) => moment.getUTCDay() + 1 },
  { min: 1970, max: 2100, at: (moment) => moment.getUTCFullYear() },
];

/** The values that a field's text names. */
function valuesOf(text: string, field: Field): ReadonlySet<number> {
  return new Set(text.split(',').flatMap((item) => itemValues(item, field)));
}

function itemValues(item: string, { min, max, names = [] }: Field): readonly number[] {
  const [range = '', step] = item.split('/');
  const number = (text: string): number => {
    const named = names.findIndex((name) => text.toLowerCase().startsWith(name));
    return named < 0 ? Number(text) : named + 1;
  };
  const [first = '', last] = range.split('-');
  const isAny = first === '*' || first === '?';
  const from = isAny ? min : number(first);
  const end = step === undefined ? from : max;
  const to = isAny ? max : last === undefined ? end : number(last);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
    (value) => (value - from) % Number(step ?? 1) === 0,
  );
}

export interface Documented {
  /** Seconds that follow one another make a window; anything else fires at moments. */
  readonly isWindow: boolean;
  readonly matches: (moment: number) => boolean;
}

export function documented(expression: string): Documented {
  const sets = expression.split(' ').map((text, index) => valuesOf(text, FIELDS[index]!));
  return {
    isWindow: [...sets[0]!].some((second) => sets[0]!.has(second + 1)),
    matches: (moment) => FIELDS.every(({ at }, index) => sets[index]!.has(at(new Date(moment)))),
  };
}
