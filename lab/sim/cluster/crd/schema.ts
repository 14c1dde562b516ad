/** The part of OpenAPI v3 that structural schemas use. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly multipleOf?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly default?: unknown;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly unknown[];
}

/** Every schema within `schema`, itself first. */
export function* schemas(schema: Schema): Generator<Schema> {
  yield schema;
  const { properties = {}, additionalProperties, items, not, allOf = [], anyOf = [], oneOf = [] } = schema;
  const inner = [...Object.values(properties), ...allOf, ...anyOf, ...oneOf];
  for (const child of [...inner, additionalProperties, items, not]) {
    if (typeof child === 'object') yield* schemas(child);
  }
}
