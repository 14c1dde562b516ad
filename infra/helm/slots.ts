import type { Component } from '../labels.ts';

/** A place in a manifest that a value of the chart fills. */
export interface Slot {
  /** JSON pointer into the object. */
  readonly place: string;
  /** Path among the values, e.g. `controller.env.MAX_CONCURRENT_UPDATE`. */
  readonly path: readonly string[];
  readonly expression: string;
  /** What stands in values.yaml. */
  readonly initial: unknown;
}

/** As much of a Deployment's or DaemonSet's spec as has slots. */
export interface WorkloadSpec {
  readonly replicas?: number;
  readonly template: {
    readonly spec: {
      readonly imagePullSecrets?: readonly object[];
      readonly nodeSelector?: object;
      readonly tolerations?: readonly object[];
      readonly containers: readonly [Container];
    };
  };
}

interface Container {
  readonly image: string;
  readonly imagePullPolicy: string;
  readonly resources: object;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

const POD = '/spec/template/spec';
const CONTAINER = `${POD}/containers/0`;

/** Variables that say what other parts of the manifests say too: ports, mounts. */
const FIXED = new Set([
  'AGENT_TOKEN_PATH',
  'APISERVER_INTERNAL_PORT',
  'APISERVER_SERVICE_PORT',
  'BOTTLEROCKET_API_SOCKET',
  'HTTP_PORT',
  'TERMINATION_LOG',
  'TLS_DIR',
]);

/** What a chart's user may say of a process. */
export function podSlots(workload: WorkloadSpec, component: Component): Slot[] {
  const { spec } = workload.template;
  const [container] = spec.containers;
  return [
    slot(`${CONTAINER}/image`, ['image', 'reference'], container.image),
    slot(`${CONTAINER}/imagePullPolicy`, ['image', 'pullPolicy'], container.imagePullPolicy),
    slot(`${POD}/imagePullSecrets`, ['image', 'pullSecrets'], spec.imagePullSecrets ?? []),
    slot(`${POD}/nodeSelector`, [component, 'nodeSelector'], spec.nodeSelector ?? {}),
    slot(`${CONTAINER}/resources`, [component, 'resources'], container.resources),
    ...(workload.replicas === undefined ? [] : [slot('/spec/replicas', [component, 'replicas'], workload.replicas)]),
    // The other two must bear the cordons that the operator sets: theirs are not to be replaced.
    ...(component === 'agent' ? [slot(`${POD}/tolerations`, [component, 'tolerations'], spec.tolerations ?? [])] : []),
    ...variableSlots(container, component),
  ];
}

function variableSlots({ env }: Container, component: Component): Slot[] {
  return env.flatMap(({ name, value }, index) => {
    if (value === undefined || FIXED.has(name)) return [];
    const path = [component, 'env', name];
    return [
      {
        place: `${CONTAINER}/env/${index}/value`,
        path,
        expression: expression(path, 'toString | toJson'),
        initial: value,
      },
    ];
  });
}

function slot(place: string, path: readonly string[], initial: unknown): Slot {
  return { place, path, expression: expression(path, 'toJson'), initial };
}

function expression(path: readonly string[], functions: string): string {
  return `{{ .Values.${path.join('.')} | ${functions} }}`;
}

type Values = { [key: string]: unknown };

/** The slots' values as values.yaml has them. */
export function valuesOf(slots: readonly Slot[]): Readonly<Values> {
  const values: Values = {};
  for (const { path, initial } of slots) {
    const parents = path.slice(0, -1);
    const parent = parents.reduce<Values>((inner, key) => (inner[key] ??= {}) as Values, values);
    parent[path.at(-1) ?? ''] = initial;
  }
  return values;
}
