import * as z from 'zod';
import type { JsonSchema } from '../../runtime/lib/env.ts';
import { monitorsProps } from '../monitoring/monitors.ts';
import { brupopProps } from '../props/brupop.ts';
import { NO_VALUES } from './values.ts';

interface ObjectSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** Contents of `values.schema.json`: what the props expect, as far as JSON Schema can say it. `faultsTemplate` checks the rest. */
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
      // Helm adds this where the chart is a dependency of another one.
      global: { type: 'object' },
    },
  };
}

function jsonSchemaOf(schema: z.ZodType): ObjectSchema & JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    // Rules between fields have no JSON Schema.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => forHelm(jsonSchema),
  }) as ObjectSchema & JsonSchema;
}

/** Helm ignores defaults in a schema, and its regular expressions (RE2) have no lookahead. */
function forHelm(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.default;
  delete schema.readOnly;
  const [ahead = '', longest] = /\(\?=\.\{1,(\d+)\}\$\)/.exec(schema.pattern ?? '') ?? [];
  if (longest !== undefined) schema.maxLength = Number(longest);
  const [except = '', word] = /\(\?!(\w+)\$\)/.exec(schema.pattern ?? '') ?? [];
  if (word !== undefined) schema.not = { const: word };
  if (schema.pattern !== undefined) schema.pattern = schema.pattern.replace(ahead, '').replace(except, '');
}
