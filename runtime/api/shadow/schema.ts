import * as z from 'zod';
import { type OpenApiSchema, structural } from './openapi.ts';
import { specV1, specV2, statusV1, statusV2 } from './model.ts';
import type { ServedVersion } from './names.ts';

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
