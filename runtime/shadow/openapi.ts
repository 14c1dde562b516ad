/** The part of OpenAPI v3 that a CRD's structural schema may have. */
export interface OpenApiSchema {
  [field: string]: unknown;
  type?: string;
  enum?: unknown[];
  required?: string[];
  items?: OpenApiSchema;
  properties?: Record<string, OpenApiSchema>;
  additionalProperties?: OpenApiSchema | false;
}

/** What zod adds, and structural schemas do not know. */
const FOREIGN: ReadonlySet<string> = new Set(['readOnly', 'propertyNames']);

/** The structural schema of what zod makes of a type. @param ofField what becomes of each field's schema; nothing by default */
export function structural(
  { required, items, properties, additionalProperties, ...own }: OpenApiSchema,
  ofField: (schema: OpenApiSchema, isRequired: boolean) => OpenApiSchema = (schema) => schema,
): OpenApiSchema {
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) => [name, ofField(structural(field, ofField), required?.includes(name) ?? false)] as const,
  );
  return {
    ...Object.fromEntries(Object.entries(own).filter((entry) => isKnown(entry, own))),
    ...(required && { required }),
    ...(items && { items: structural(items, ofField) }),
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(additionalProperties && { additionalProperties: structural(additionalProperties, ofField) }),
  };
}

/** zod adds a pattern of its own beside `format: date-time`, and the largest safe integer as a maximum. */
function isKnown([key, value]: readonly [string, unknown], { format }: OpenApiSchema): boolean {
  if (FOREIGN.has(key)) return false;
  if (key === 'pattern') return format !== 'date-time';
  return key !== 'maximum' || (value as number) < Number.MAX_SAFE_INTEGER;
}
