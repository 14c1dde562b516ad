import { z } from 'zod';
import type { JsonSchema } from '../../runtime/lib/env.ts';
import { monitorsProps } from '../monitoring/monitors.ts';
import { brupopProps } from '../props/brupop.ts';
import { NO_VALUES } from './values.ts';

interface ObjectSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** What `values.schema.json` holds: what the props expect, as far as JSON Schema can say it. The rest is said by the template of faults. */
export function valuesSchema(): JsonSchema {
  const { properties, ...schema } = jsonSchemaOf(brupopProps);
  const { properties: monitors, ...rest } = jsonSchemaOf(monitorsProps);
  const { brupop: _, ...watching } = monitors;
  const own = Object.entries(properties).filter(([name]) => !(NO_VALUES as readonly string[]).includes(name));
  return {
    ...schema,
    title: 'Values of the chart brupop',
    properties: {
      ...Object.fromEntries(own),
      monitors: { ...rest, required: [], properties: { enabled: { type: 'boolean' }, ...watching } },
      // Where the chart is a part of another one, Helm hands this down.
      global: { type: 'object' },
    },
  };
}

function jsonSchemaOf(schema: z.ZodType): ObjectSchema & JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    // Rules between fields, and what is no JSON.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => forHelm(jsonSchema),
  }) as ObjectSchema & JsonSchema;
}

/** Helm fills nothing in, and its expressions are RE2's, which look neither ahead nor behind. */
function forHelm(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.default;
  delete schema.readOnly;
  const [ahead = '', longest] = /\(\?=\.\{1,(\d+)\}\$\)/.exec(schema.pattern ?? '') ?? [];
  if (longest !== undefined) schema.maxLength = Number(longest);
  const [except = '', word] = /\(\?!(\w+)\$\)/.exec(schema.pattern ?? '') ?? [];
  if (word !== undefined) schema.not = { const: word };
  if (schema.pattern !== undefined) schema.pattern = schema.pattern.replace(ahead, '').replace(except, '');
}
