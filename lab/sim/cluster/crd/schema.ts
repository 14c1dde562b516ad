/** The part of OpenAPI v3 that the definitions use which are applied here; the rest is refused. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly unknown[];
}

/** Every schema within `schema`, itself first. */
export function* schemas(schema: Schema): Generator<Schema> {
  yield schema;
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  for (const child of [...Object.values(properties), ...anyOf, ...oneOf, additionalProperties, items]) {
    if (typeof child === 'object') yield* schemas(child);
  }
}
