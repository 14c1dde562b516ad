/** A custom resource for the tests: `gadgets.example.com`, served as v1 and v2, stored as v2. */
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const CRD = `${CRDS}/gadgets.example.com`;
export const V1 = '/apis/example.com/v1/namespaces/default/gadgets';
export const V2 = '/apis/example.com/v2/namespaces/default/gadgets';

export const schema = (more: object = {}): object => ({
  openAPIV3Schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['state'],
        properties: {
          state: { type: 'string', enum: ['Idle', 'Busy'] },
          version: { type: 'string', nullable: true, pattern: '^\\d+$' },
          since: { type: 'string', format: 'date-time' },
          size: { type: 'integer', minimum: 0, maximum: 10, default: 3 },
          tags: { type: 'array', maxItems: 2, items: { type: 'string' } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          ...more,
        },
      },
      status: { type: 'object', required: ['seen'], properties: { seen: { type: 'string' } } },
    },
  },
});

export const version = (name: string, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: schema(),
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: 'State', type: 'string', jsonPath: '.spec.state' }],
});

export const definition = (more: object = {}): object => ({
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['gd'] },
    versions: [version('v1', false), version('v2', true)],
    ...more,
  },
});

export const gadget = (name: string, spec: object = { state: 'Idle' }, more: object = {}): object => ({
  apiVersion: 'example.com/v2',
  kind: 'Gadget',
  metadata: { name },
  spec,
  ...more,
});

export const gadgetV1 = (name: string): object => gadget(name, { state: 'Idle' }, { apiVersion: 'example.com/v1' });

/** Specs that the schema refuses, and why, in the API server's own words. */
export const INVALID_SPECS: readonly (readonly [spec: object, why: string])[] = [
  [{}, 'spec.state: Required value'],
  [{ state: 'Lazy' }, 'spec.state: Unsupported value: "Lazy": supported values: "Idle", "Busy"'],
  [{ state: 7 }, 'spec.state: Invalid value: "integer": spec.state in body must be of type string: "integer"'],
  [{ state: 'Idle', version: 'x' }, 'spec.version: Invalid value: "x": spec.version in body should match \'^\\d+$\''],
  [
    { state: 'Idle', since: 'noon' },
    'spec.since: Invalid value: "noon": spec.since in body must be of type date-time: "noon"',
  ],
  [{ state: 'Idle', size: -1 }, 'spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0'],
  [{ state: 'Idle', size: 11 }, 'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10'],
  [
    { state: 'Idle', size: 1.5 },
    'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
  ],
  [{ state: 'Idle', tags: ['a', 'b', 'c'] }, 'spec.tags: Too many: 3: must have at most 2 items'],
  [
    { state: 'Idle', tags: [1] },
    'spec.tags[0]: Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"',
  ],
  [{ state: null }, 'spec.state: Required value'],
];
