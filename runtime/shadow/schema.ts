import { z } from 'zod';
import { specV1, specV2, statusV1, statusV2 } from './model.ts';
import type { ServedVersion } from './names.ts';

/** The part of OpenAPI v3 that a CRD's structural schema may use here. */
interface OpenApiSchema {
  type?: string;
  description?: string;
  format?: string;
  pattern?: string;
  nullable?: boolean;
  enum?: (string | null)[];
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  required?: string[];
  items?: OpenApiSchema;
  properties?: Record<string, OpenApiSchema>;
}

/** The structural schema of `.spec` and `.status` for one served version. */
export function crdSchema(version: ServedVersion): OpenApiSchema {
  const [spec, status] = version === 'v1' ? [specV1, statusV1] : [specV2, statusV2];
  return {
    type: 'object',
    description: 'The state of one Bottlerocket node and of its update.',
    required: ['spec'],
    properties: { spec: openApi(spec), status: { ...openApi(status), nullable: true } },
  };
}

function openApi(schema: z.ZodType): OpenApiSchema {
  return structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as OpenApiSchema);
}

/** Removes what zod adds: its own pattern beside `format: date-time`, and the largest safe integer as a maximum. */
function structural(schema: OpenApiSchema): OpenApiSchema {
  const { pattern, maximum, items, properties, ...rest } = schema;
  return {
    ...rest,
    ...(pattern !== undefined && rest.format !== 'date-time' && { pattern }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
    ...(items && { items: structural(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, structural(inner)])),
    }),
  };
}
