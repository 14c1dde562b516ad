import { isDeepStrictEqual } from 'node:util';
import { isFields } from '../object.ts';
import type { Cause } from '../status.ts';
import { isUnchanging, UNCHANGING } from './rules.ts';
import type { Schema } from './schema.ts';

interface Write {
  readonly before: unknown;
  readonly after: unknown;
}

/** What a write changes that its schema does not let it change. Only fields of objects are looked at. */
export function changes(schema: Schema, { before, after }: Write, path = ''): readonly Cause[] {
  const { properties = {}, type, 'x-kubernetes-validations': rules = [] } = schema;
  const own = isDeepStrictEqual(before, after) ? undefined : rules.find(isUnchanging);
  if (own) {
    const message = `Invalid value: "${type}": ${(own as { message?: string }).message ?? `failed rule: ${UNCHANGING}`}`;
    return [{ reason: 'FieldValueInvalid', field: path, message }];
  }
  if (!isFields(before) || !isFields(after)) return [];
  return Object.entries(properties).flatMap(([name, field]) =>
    name in before && name in after
      ? changes(field, { before: before[name], after: after[name] }, path === '' ? name : `${path}.${name}`)
      : [],
  );
}
