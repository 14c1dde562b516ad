import * as z from 'zod';
import { DURATION_PATTERN } from './duration.ts';

/** The kinds of values that a spec is made of. */

/** Texts of an object's description, and what a schema can say of its values. */
export type Meta = Readonly<Record<string, unknown>>;

/** Adds what people read of a field with `kubectl explain`. */
export const described = <T extends z.ZodType>(schema: T, description: string): T =>
  schema.meta({ ...schema.meta(), description });

export const text = (pattern: string, { expected, most }: { readonly expected: string; readonly most: number }) => {
  const error = `expected ${expected}`;
  return z.string(error).max(most, { error, abort: true }).regex(new RegExp(pattern), { error, abort: true });
};

/** A value that `fits` accepts. @param meta what an OpenAPI schema can say of it */
export const value = <T>(expected: string, fits: (value: unknown) => boolean, meta: Meta) =>
  z.custom<T>(fits, { error: `expected ${expected}`, abort: false }).meta(meta);

export const list = <T extends z.ZodType>(item: T, most: number) =>
  z.array(item, 'expected a list').max(most, `expected ${most} at most`).readonly();

export const flag = z.boolean('expected true or false');

export function wholeNumber(least: number, most: number) {
  const expected = `a whole number from ${least} to ${most}`;
  const fits = (given: unknown): boolean => Number.isInteger(given) && Number(given) >= least && Number(given) <= most;
  return value<number>(expected, fits, { type: 'integer', minimum: least, maximum: most });
}

export const duration = text(DURATION_PATTERN, { expected: 'a duration such as 90s, 45m or 1h30m', most: 24 });
