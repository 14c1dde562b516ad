import { timeOfDay } from './deciding/schedule/schedule.ts';
import type { OptionalEnvVar } from '../lib/env.ts';
import { COUNT_AT_ONCE, limit, MOST_AT_ONCE, type Quantity, type QuantityKind } from '../api/policy/quantity.ts';

/** A number, a percentage or `unlimited`. */
export const quantity = (
  { expected, most, pattern, parse }: QuantityKind,
  meta: { readonly help: string; readonly default: string },
): OptionalEnvVar<Quantity> => ({
  expected,
  parse,
  schema: {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: most },
      { type: 'string', pattern },
    ],
  },
  ...meta,
});

/** Undefined = as many as may be updating at once. */
export const readAhead: OptionalEnvVar<{ readonly atMost: Quantity | undefined }> = {
  expected: `a whole number from 0 to ${MOST_AT_ONCE}, a percentage, "unlimited" or "auto"`,
  parse: (value) => {
    if (value === 'auto') return { atMost: undefined };
    const atMost = value === '0' ? NONE : limit(COUNT_AT_ONCE).parse(value);
    return atMost && { atMost };
  },
  schema: {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: MOST_AT_ONCE },
      { type: 'string', pattern: `^(0|auto|${limit(COUNT_AT_ONCE).pattern.slice(2, -2)})$` },
    ],
  },
  help: 'nodes that wait for their turn and prepare their update meanwhile: a number, a percentage, "unlimited", or "auto" for as many as may be updating at once; 0 = none',
  default: 'auto',
};

const NONE: Quantity = { kind: 'count', count: 0 };

/** A time of day in milliseconds since midnight, UTC; null where none was given. */
export const dayTime = (help: string): OptionalEnvVar<number | null> => ({
  expected: 'a time of day like 23:30:00',
  parse: (value) => (value === '' ? null : timeOfDay(value)),
  schema: { type: 'string', pattern: '^([01][0-9]|2[0-3])(:[0-5][0-9]){2}$' },
  help,
  default: '',
});
