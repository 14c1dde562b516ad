import * as z from 'zod';
import { type OpenApiSchema, structural } from '../shadow/openapi.ts';
import { MAX_FAILURES, releaseSpec, releaseStatus } from './model.ts';

const openApi = (schema: z.ZodType): OpenApiSchema =>
  structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as OpenApiSchema);

/** What the object is about. Another release is another object, or the failures of one would count for the other. */
const UNCHANGED = { 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'cannot be changed' }] };

/** The structural schema of a BottlerocketRelease. */
export function releaseCrdSchema(): OpenApiSchema {
  const spec = openApi(releaseSpec);
  const status = openApi(releaseStatus);
  const { family, version, decision, ...said } = spec.properties ?? {};
  const { failures, cleared } = status.properties ?? {};
  const most = { maxProperties: MAX_FAILURES };
  return {
    type: 'object',
    description: 'What is decided on a release of Bottlerocket, and what became of it.',
    required: ['spec'],
    properties: {
      spec: {
        ...spec,
        properties: {
          family: { ...family, ...UNCHANGED },
          version: { ...version, ...UNCHANGED },
          decision: { ...decision, default: 'Automatic' },
          ...said,
        },
      },
      status: {
        ...status,
        nullable: true,
        description: 'Written by the controller.',
        properties: { ...status.properties, failures: { ...failures, ...most }, cleared: { ...cleared, ...most } },
      },
    },
  };
}
