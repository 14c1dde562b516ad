import type { Contract } from './cluster.ts';
import { eventually } from './eventually.ts';

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

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
          mood: { type: 'string', nullable: true, enum: ['good', null] },
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

/** A custom resource for the tests, served as v1 and v2, stored as v2. */
export const definition = (more: object = {}, group = 'example.com'): object => ({
  metadata: { name: `gadgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['gd'] },
    versions: [version('v1', false), version('v2', true)],
    ...more,
  },
});

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
  [{ state: 'Idle', mood: null }, 'spec.mood: Unsupported value: null: supported values: "good", "null"'],
];

/** Gadgets of a group that no other test has, in a namespace of their own. */
export interface Gadgets {
  readonly group: string;
  readonly namespace: string;
  /** Path of the definition. */
  readonly crd: string;
  /** Paths of the objects. */
  readonly v1: string;
  readonly v2: string;
  readonly gadget: (name: string, spec?: object, more?: object) => object;
  readonly gadgetV1: (name: string) => object;
  /** The same definition's, in a namespace that is new. */
  elsewhere(): Promise<Gadgets>;
  /** Returns before the definition is gone. */
  remove(): Promise<unknown>;
}

/** Once they are served. @param more of the definition's spec */
export async function servedGadgets(cluster: Contract, more: object = {}): Promise<Gadgets> {
  const namespace = await cluster.namespace();
  const group = `${namespace}.example.com`;
  await cluster.admin.create(CRDS, definition(more, group));
  const gadgets = gadgetsIn(cluster, group, namespace);
  await eventually(() => cluster.admin.create(gadgets.v2, gadgets.gadget('probe'), { dryRun: 'All' }));
  return gadgets;
}

function gadgetsIn(cluster: Contract, group: string, namespace: string): Gadgets {
  const crd = `${CRDS}/gadgets.${group}`;
  const path = (name: string): string => `/apis/${group}/${name}/namespaces/${namespace}/gadgets`;
  const gadget = (name: string, spec: object = { state: 'Idle' }, more: object = {}): object => ({
    apiVersion: `${group}/v2`,
    kind: 'Gadget',
    metadata: { name },
    spec,
    ...more,
  });
  return {
    group,
    namespace,
    crd,
    v1: path('v1'),
    v2: path('v2'),
    gadget,
    gadgetV1: (name) => ({ ...gadget(name), apiVersion: `${group}/v1` }),
    elsewhere: async () => gadgetsIn(cluster, group, await cluster.namespace()),
    remove: () => cluster.admin.delete(crd),
  };
}
