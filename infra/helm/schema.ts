import * as z from 'zod';
import type { JsonSchema } from '../../runtime/lib/env.ts';
import { alertsProps } from '../monitoring/alerts.ts';
import { dashboardProps } from '../monitoring/dashboard.ts';
import { monitorsProps } from '../monitoring/monitors.ts';
import { peopleRolesProps } from '../people.ts';
import { brupopProps } from '../props/brupop.ts';
import { NO_VALUES } from './values.ts';

interface ObjectSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** Contents of `values.schema.json`: what the props expect, as far as JSON Schema can say it. `faultsTemplate` checks the rest. */
export function valuesSchema(): JsonSchema {
  const { properties, ...schema } = jsonSchemaOf(brupopProps);
  const own = Object.entries(properties).filter(([name]) => !(NO_VALUES as readonly string[]).includes(name));
  return orDefaults({
    ...schema,
    title: 'Values of the chart brupop',
    properties: {
      ...Object.fromEntries(own),
      monitors: companion(monitorsProps),
      alerts: companion(alertsProps),
      dashboard: companion(dashboardProps),
      peopleRoles: companion(peopleRolesProps),
      extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
      // Helm adds this where the chart is a dependency of another one, with whatever the other charts have in it.
      global: {
        type: 'object',
        properties: {
          imageRegistry: { type: 'string' },
          imagePullSecrets: { type: 'array', items: { type: ['string', 'object'] } },
        },
      },
      enabled: { type: 'boolean' },
    },
  });
}

/** A construct beside the operator, which is off by default. */
function companion(props: z.ZodType): JsonSchema {
  const { properties, ...rest } = jsonSchemaOf(props);
  const { brupop: _, ...own } = properties;
  return { ...rest, required: [], properties: { enabled: { type: 'boolean' }, ...own } };
}

/** A schema with what is done to it here. */
interface Node extends JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly allOf?: readonly Node[];
  readonly not?: object;
  readonly oneOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
}

/** Every value may be null, which means its default. Items of lists are taken as they are. */
function orDefaults(schema: Node): Node {
  const { properties } = schema;
  if (!properties) return schema;
  const own = Object.entries(properties).map(([name, one]) => {
    return [name, orNull(orDefaults(one.oneOf ? ofAnyKind(one.oneOf) : one))] as const;
  });
  return { ...schema, required: [], properties: Object.fromEntries(own) };
}

/**
 * The fields of all kinds together: a layer of values that chooses another kind cannot take away what one below it has said for the former.
 * `faultsTemplate` asks for what a kind needs.
 */
function ofAnyKind(kinds: readonly Node[]): Node {
  const properties = Object.assign({}, ...kinds.map((one) => one.properties)) as Record<string, Node>;
  const kind = { enum: kinds.map((one) => one.properties?.['kind']?.const) };
  return { type: 'object', additionalProperties: false, properties: { ...properties, kind } };
}

function orNull({ not, ...schema }: Node): Node {
  const { type, const: only, enum: words = only === undefined ? undefined : [only], anyOf } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(words && { enum: [...words, null] }),
    ...(anyOf && { anyOf: [...anyOf, { type: 'null' }] }),
    // Null has no keys, and so has each of those that an object must not have.
    ...(not && { allOf: [{ anyOf: [{ type: 'null' }, { not }] }] }),
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
