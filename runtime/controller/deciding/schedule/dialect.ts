/**
 * Existing installations wrote their schedules for another cron library. Texts are translated from its dialect into croner's: names may be
 * written out there, `?` means `*`, and a step may start at a single number. What that library refuses is refused here too. How croner
 * counts days of the week, and joins them with days of the month, is an option of its own (`cron.ts`).
 */

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
/** Abbreviations other than the first three letters. */
const ALSO: Readonly<Record<string, string>> = { tues: 'tuesday', thurs: 'thursday' };

interface Field {
  /** The largest value. A step from a single number ends there. */
  readonly max: number;
  readonly names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { max: 59 },
  { max: 59 },
  { max: 23 },
  { max: 31 },
  { max: 12, names: MONTHS },
  { max: 7, names: DAYS },
  { max: 2100 },
];

/** The expression for croner, seven fields long; undefined where it has another number of fields or an unknown name. */
export function toCroner(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 6 && fields.length !== FIELDS.length) return undefined;
  const translated = FIELDS.map((field, index) => translate(fields[index] ?? '*', field));
  return translated.includes(undefined) ? undefined : translated.join(' ');
}

/** The few characters that the dialect has, so that croner's own extensions are not accepted by accident. */
const ALPHABET = /^[\w*?,/-]+$/;

function translate(text: string, field: Field): string | undefined {
  if (!ALPHABET.test(text)) return undefined;
  const named = text.toLowerCase().replaceAll(/[a-z]+/g, (word) => String(numberOf(word, field) ?? '!'));
  if (named.includes('!')) return undefined;
  return named
    .replaceAll('?', '*')
    .split(',')
    .map((item) => item.replace(/^(\d+)\/(\d+)$/, `$1-${field.max}/$2`))
    .join(',');
}

/** Days and months both count from 1, and Sunday is the first day. */
function numberOf(word: string, { names = [] }: Field): number | undefined {
  const full = ALSO[word] ?? word;
  const index = names.findIndex((name) => name === full || name.slice(0, 3) === full);
  return index < 0 ? undefined : index + 1;
}
