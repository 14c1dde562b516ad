import * as z from 'zod';
import { type OpenApiSchema, structural } from '../shadow/openapi.ts';
import type { PolicyCondition, PolicyNodes, PolicyRelease, PolicyStatus } from './model.ts';
import { MAX_RELEASES } from './model.ts';
import { policySpec } from './spec.ts';

/** The structural schema of a BottlerocketUpdatePolicy. */
export function policyCrdSchema(): OpenApiSchema {
  const spec = structural(
    z.toJSONSchema(policySpec, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }) as OpenApiSchema,
    orNull,
  );
  const { priority, paused, ...others } = spec.properties ?? {};
  return {
    type: 'object',
    description: 'What is decided for the updates of a group of nodes.',
    required: ['spec'],
    properties: {
      spec: {
        ...spec,
        description: 'An omitted field, or null, takes the value that the controller has for the whole fleet.',
        properties: {
          ...others,
          // These two are shown by kubectl, and no variable stands for them.
          priority: withDefault(priority, 0),
          paused: withDefault(paused, false),
        },
      },
      status: { ...statusSchema, nullable: true },
    },
  };
}

/** Null means absent, so a field that may be missing may be null. An enum cannot: the API server takes a null for none of its values. */
function orNull(schema: OpenApiSchema, isRequired: boolean): OpenApiSchema {
  return isRequired || schema.enum ? schema : { nullable: true, ...schema };
}

/** Without `nullable`, so that the API server replaces a null by the default. */
function withDefault(schema: OpenApiSchema = {}, fallback: unknown): OpenApiSchema {
  const { nullable: _, ...rest } = schema;
  return { ...rest, default: fallback };
}

const time = { type: 'string', format: 'date-time', nullable: true };
const count = { type: 'integer', minimum: 0 };
const text = { type: 'string' };

const nodes = {
  type: 'object',
  nullable: true,
  description: 'Managed nodes that the policy rules.',
  required: ['selected', 'upToDate', 'updating', 'waiting', 'failed'],
  properties: {
    selected: count,
    upToDate: count,
    updating: count,
    waiting: count,
    failed: count,
  } satisfies Record<keyof PolicyNodes, OpenApiSchema>,
};

const release = {
  type: 'object',
  required: ['family', 'version'],
  properties: {
    family: { ...text, description: 'Variant and architecture.' },
    version: text,
    firstOfferedAt: time,
    provenAt: { ...time, description: 'When enough nodes ran it and were well.' },
    completedAt: { ...time, description: 'When no node waited for it any more. Policies after this one go by it.' },
    failed: { ...count, nullable: true, description: 'Nodes that have failed on it.' },
  } satisfies Record<keyof PolicyRelease, OpenApiSchema>,
};

const condition = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: text,
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0, nullable: true },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: text,
    message: text,
  } satisfies Record<keyof PolicyCondition, OpenApiSchema>,
};

const statusSchema = {
  type: 'object',
  description: 'What became of it. Written by the controller.',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0, nullable: true },
    nodes,
    releases: { type: 'array', nullable: true, maxItems: MAX_RELEASES, items: release },
    nextChangeAt: { ...time, description: 'When time alone changes something.' },
    conditions: { type: 'array', nullable: true, items: condition },
  } satisfies Record<keyof PolicyStatus, OpenApiSchema>,
};
