import * as z from 'zod';
import { OWN_LABEL_KEYS } from '../labels.ts';
import { agentEnv } from '../../runtime/agent/config.ts';
import {
  AMONG_ITEMS,
  annotationMap,
  count,
  labelMap,
  labelValue,
  objectName,
  afterOwnChecks,
  qualifiedName,
  textIn,
} from './fields.ts';
import { type Resources, resourceProps } from './resources.ts';
import { type NodeAffinity, nodeAffinity, type PodAffinity, podAffinity } from './scheduling.ts';

/** A taint that pods tolerate. */
export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: 'Exists' | 'Equal' | undefined;
  readonly value?: string | undefined;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' | undefined;
  /** Seconds that a NoExecute taint is tolerated. */
  readonly tolerationSeconds?: number | undefined;
}

/** Props of the pods of each of the three processes. */
export interface WorkloadProps {
  /** Requests and limits of the container. No default has a CPU limit. */
  readonly resources?: Resources;
  /** Labels that a node must have, besides what the workload needs by itself. @default none */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Taints that the pods tolerate, besides those that the operator sets itself. @default none */
  readonly tolerations?: readonly Toleration[];
  /** An existing PriorityClass. @default the operator's own, or none where `createPriorityClasses` is false */
  readonly priorityClassName?: string | undefined;
  /** What the nodes must be besides, or had better be. @default none */
  readonly nodeAffinity?: NodeAffinity | undefined;
  /** Pods to be near. @default none */
  readonly podAffinity?: PodAffinity | undefined;
  /** Pods to be away from. @default controller and apiserver: their own other replicas, by host, as far as there are any */
  readonly podAntiAffinity?: PodAffinity | undefined;
  /** Least level that this process logs, or directives like `brupop=debug,info`. @default `logging.filter` */
  readonly logFilter?: string | undefined;
  /** Further variables of the container, e.g. `NODE_EXTRA_CA_CERTS`; none that a prop sets. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds that a new pod must be ready before the next one is replaced. @default 0 */
  readonly minReadySeconds?: number;
  /** Labels for the Deployment or the DaemonSets alone. @default none */
  readonly workloadLabels?: Readonly<Record<string, string>>;
  /** Annotations for the Deployment or the DaemonSets alone. @default none */
  readonly workloadAnnotations?: Readonly<Record<string, string>>;
  /** Labels for the pods alone. @default none */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** Annotations for the pods alone. @default none */
  readonly podAnnotations?: Readonly<Record<string, string>>;
}

/** Props of the processes that have a Service. */
export interface ServedProps {
  /** Annotations for the Service, which win over those for Prometheus. @default none */
  readonly serviceAnnotations?: Readonly<Record<string, string>>;
}

/** The same with every default. */
export type WorkloadSettings<P extends WorkloadProps> = Required<Omit<P, 'resources' | OptionalProp>> &
  Pick<P, OptionalProp & keyof P> & { readonly resources: Required<Resources> };
/** Props of a process that have no default of their own. */
export type OptionalProp =
  | 'logFilter'
  | 'nodeAffinity'
  | 'podAffinity'
  | 'podAntiAffinity'
  | 'priorityClassName'
  | 'topologySpreadConstraints'
  | 'dnsPolicy'
  | 'prometheusUrl';

// Rules between fields that the API server would refuse at apply.
const toleration = z
  .strictObject({
    key: qualifiedName.optional(),
    operator: z.enum(['Exists', 'Equal'], 'expected Exists or Equal').optional(),
    value: labelValue.optional(),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], 'expected NoSchedule, PreferNoSchedule or NoExecute')
      .optional(),
    tolerationSeconds: count(0).optional(),
  } satisfies Record<keyof Toleration, z.ZodType>)
  .refine(({ key, operator }) => key !== undefined || operator === 'Exists', {
    path: ['operator'],
    message: 'expected Exists, since there is no key',
    ...afterOwnChecks('key', 'operator'),
  })
  .refine(({ operator, value }) => operator !== 'Exists' || !value, {
    path: ['value'],
    message: 'expected none with operator Exists',
    ...afterOwnChecks('operator', 'value'),
  })
  .refine(({ effect, tolerationSeconds }) => tolerationSeconds === undefined || effect === 'NoExecute', {
    path: ['effect'],
    message: 'expected NoExecute, since there are tolerationSeconds',
    ...afterOwnChecks('effect', 'tolerationSeconds'),
  });

/** Labels other than the operator's own: Services and policies select by those. @internal */
export const freeLabels = labelMap
  .superRefine((labels, context) => {
    for (const key of OWN_LABEL_KEYS.filter((own) => Object.hasOwn(labels, own)))
      context.addIssue({ code: 'custom', path: [key], message: 'expected a key that is not the operator’s own' });
  }, AMONG_ITEMS)
  .meta({ not: { anyOf: OWN_LABEL_KEYS.map((key) => ({ required: [key] })) } })
  .default({});

/** Variables other than those that the container states itself. A name that is there twice is one too many for the API server. */
function furtherEnv(own: object) {
  const names = Object.keys(own).filter((name) => !name.startsWith('KUBERNETES_SERVICE_'));
  return z
    .record(z.string().regex(VARIABLE, 'expected the name of a variable'), z.string('expected some text'))
    .superRefine((given, context) => {
      for (const name of names.filter((one) => Object.hasOwn(given, one)))
        context.addIssue({ code: 'custom', path: [name], message: 'expected a variable that no prop sets' });
    }, AMONG_ITEMS)
    .meta({ not: { anyOf: names.map((name) => ({ required: [name] })) } })
    .default({});
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @internal */
export const servedFields = {
  serviceAnnotations: annotationMap.default({}),
} satisfies Record<keyof ServedProps, z.ZodType>;

/** @param own variables that the container states itself @internal */
export const workloadFields = (defaults: Required<Resources>, own: object) =>
  ({
    resources: resourceProps(defaults),
    nodeSelector: labelMap.default({}),
    tolerations: z.array(toleration).readonly().default([]),
    priorityClassName: objectName.optional(),
    nodeAffinity: nodeAffinity.optional(),
    podAffinity: podAffinity.optional(),
    podAntiAffinity: podAffinity.optional(),
    logFilter: textIn(agentEnv.TRACING_FILTER_DIRECTIVE).optional(),
    env: furtherEnv(own),
    minReadySeconds: count(0).default(0),
    workloadLabels: freeLabels,
    workloadAnnotations: annotationMap.default({}),
    podLabels: freeLabels,
    podAnnotations: annotationMap.default({}),
  }) satisfies Record<keyof WorkloadProps, z.ZodType>;
