import * as z from 'zod';
import {
  AMONG_ITEMS,
  count,
  labelMap,
  labelValue,
  namespaceOrAny,
  numberFrom,
  afterOwnChecks,
  qualifiedName,
} from './fields.ts';

/** Selects objects by their labels; an empty one selects all. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  /** For In and NotIn, at least one. */
  readonly values?: readonly string[] | undefined;
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** Label of nodes by whose value places are told apart, e.g. `kubernetes.io/hostname`. */
  readonly topologyKey: string;
}

export interface WeightedPodAffinityTerm {
  /** 1 to 100. */
  readonly weight: number;
  readonly podAffinityTerm: PodAffinityTerm;
}

/** Near which pods, or away from which pods, a pod is put: Kubernetes' PodAffinity and PodAntiAffinity. */
export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[] | undefined;
}

/** What a node must be, or had better be: Kubernetes' NodeAffinity. */
export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredNodes[] | undefined;
}

/** A node that fits one of the terms. */
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

export interface PreferredNodes {
  /** 1 to 100. */
  readonly weight: number;
  readonly preference: NodeSelectorTerm;
}

/** All of them must hold. */
export interface NodeSelectorTerm {
  readonly matchExpressions: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  /** For In and NotIn at least one, for Gt and Lt one number as text. */
  readonly values?: readonly string[] | undefined;
}

/** How evenly pods are spread over the places that a label of nodes tells apart. */
export interface TopologySpreadConstraint {
  /** Pods by which two places may differ, 1 or more. */
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  /** @default the pods of the process */
  readonly labelSelector?: LabelSelector | undefined;
}

const requirement = z
  .strictObject({
    key: qualifiedName,
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'expected In, NotIn, Exists or DoesNotExist'),
    values: z.array(labelValue).readonly().optional(),
  } satisfies Record<keyof LabelSelectorRequirement, z.ZodType>)
  .refine(({ operator, values = [] }) => operator.endsWith('In') === values.length > 0, {
    path: ['values'],
    message: 'expected at least one value with In or NotIn, none with Exists or DoesNotExist',
    ...afterOwnChecks('operator', 'values'),
  });

const nodeRequirement = z
  .strictObject({
    key: qualifiedName,
    operator: z.enum(
      ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'],
      'expected In, NotIn, Exists, DoesNotExist, Gt or Lt',
    ),
    values: z.array(labelValue).readonly().optional(),
  } satisfies Record<keyof NodeSelectorRequirement, z.ZodType>)
  .refine(({ operator, values = [] }) => operator.includes('Exist') === (values.length === 0), {
    path: ['values'],
    message: 'expected at least one value with In, NotIn, Gt or Lt, none with Exists or DoesNotExist',
    ...afterOwnChecks('operator', 'values'),
  });

const nodeTerm = z.strictObject({
  matchExpressions: z.array(nodeRequirement).min(1, 'expected at least one').readonly(),
} satisfies Record<keyof NodeSelectorTerm, z.ZodType>);

/** @internal */
export const nodeAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z
    .strictObject({ nodeSelectorTerms: z.array(nodeTerm).min(1, 'expected at least one term').readonly() })
    .optional(),
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.strictObject({ weight: numberFrom(1, 100), preference: nodeTerm }))
    .readonly()
    .optional(),
} satisfies Record<keyof NodeAffinity, z.ZodType>);

const labelSelector = z.strictObject({
  matchLabels: labelMap.optional(),
  matchExpressions: z.array(requirement).readonly().optional(),
} satisfies Record<keyof LabelSelector, z.ZodType>);

const term = z.strictObject({
  labelSelector: labelSelector.optional(),
  namespaceSelector: labelSelector.optional(),
  namespaces: z.array(namespaceOrAny).readonly().optional(),
  topologyKey: qualifiedName,
} satisfies Record<keyof PodAffinityTerm, z.ZodType>);

const weighted = z.strictObject({
  weight: numberFrom(1, 100),
  podAffinityTerm: term,
} satisfies Record<keyof WeightedPodAffinityTerm, z.ZodType>);

/** @internal */
export const podAffinity = z.strictObject({
  requiredDuringSchedulingIgnoredDuringExecution: z.array(term).readonly().optional(),
  preferredDuringSchedulingIgnoredDuringExecution: z.array(weighted).readonly().optional(),
} satisfies Record<keyof PodAffinity, z.ZodType>);

const constraint = z.strictObject({
  maxSkew: count(1),
  topologyKey: qualifiedName,
  whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway'], 'expected DoNotSchedule or ScheduleAnyway'),
  labelSelector: labelSelector.optional(),
} satisfies Record<keyof TopologySpreadConstraint, z.ZodType>);

/** @internal */
export const topologySpreadConstraints = z
  .array(constraint)
  .readonly()
  .superRefine((constraints, context) => {
    const seen = new Set<string>();
    for (const [index, constraintOrNot] of constraints.entries()) {
      const { topologyKey, whenUnsatisfiable } = (constraintOrNot ?? {}) as Partial<TopologySpreadConstraint>;
      if (topologyKey === undefined || whenUnsatisfiable === undefined) continue;
      const key = `${whenUnsatisfiable} ${topologyKey}`;
      const message = `expected one constraint with ${whenUnsatisfiable} for a key, "${topologyKey}" has two`;
      if (seen.has(key)) context.addIssue({ code: 'custom', path: [index, 'topologyKey'], message });
      seen.add(key);
    }
  }, AMONG_ITEMS);
