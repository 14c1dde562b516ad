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

/** Fields that zod adds and that structural schemas do not have. */
const FOREIGN: ReadonlySet<string> = new Set(['readOnly', 'propertyNames']);

/** Makes zod's OpenAPI schema a structural one. @param ofField changes the schema of each field; none by default */
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
