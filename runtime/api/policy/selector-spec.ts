import * as z from 'zod';
import { list, text } from './fields.ts';

const NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

export const labelKey = text(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${NAME}$`, {
  expected: 'a label key such as example.com/pool',
  most: 317,
});
const labelValue = text(`^(${NAME})?$`, {
  expected: 'a label value (letters, digits, "-", "_" and ".", at most 63)',
  most: 63,
});

const requirement = z
  .strictObject(
    {
      key: labelKey,
      operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'expected In, NotIn, Exists or DoesNotExist'),
      values: list(labelValue, 256).meta({ nullable: false }).optional(),
    },
    'expected an object',
  )
  .refine(({ operator, values = [] }) => operator.endsWith('In') === values.length > 0, {
    path: ['values'],
    message: 'expected at least one value with In or NotIn, none with Exists or DoesNotExist',
  })
  // The API server checks this too, and refuses nulls: a selector that cannot be read stops every start in the fleet.
  .meta({
    anyOf: [
      { properties: { operator: { enum: ['In', 'NotIn'] }, values: { minItems: 1 } }, required: ['values'] },
      { properties: { operator: { enum: ['Exists', 'DoesNotExist'] }, values: { maxItems: 0 } } },
    ],
  });

/** A label selector that selects nobody by mistake. */
export const labelSelector = z.strictObject(
  {
    // Nullable, or the API server would drop a label with a null and select more nodes. It is kept, and `parsePolicy` reports it as a fault.
    matchLabels: z
      .record(labelKey, labelValue.meta({ nullable: true }), 'expected labels')
      .meta({ maxProperties: 64 })
      .optional(),
    matchExpressions: list(requirement, 64).optional(),
  },
  'expected a label selector ({} selects every node)',
);
