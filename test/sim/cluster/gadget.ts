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
