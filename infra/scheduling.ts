import type { k8s } from 'cdk8s-plus-28';
import { UPDATING_LABEL } from '../runtime/marks/names.ts';
import { type Component, selectorLabels } from './labels.ts';
import { AGENT_PRIORITY, HIGH_PRIORITY } from './names.ts';
import type { Settings } from './props/brupop.ts';
import type { TopologySpreadConstraint } from './props/scheduling.ts';
import type { WorkloadProps } from './props/workload.ts';

const PLATFORM: k8s.NodeSelectorRequirement[] = [
  { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
];

/** Nodes that the image runs on and that meet `more`. */
export function requiredNodes(more: readonly k8s.NodeSelectorRequirement[] = []): k8s.NodeAffinity {
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [...PLATFORM, ...more] }],
    },
  };
}

/**
 * How a Deployment's pods survive the drains that they order. They move to a node that is not being updated where there is one, and
 * otherwise back to a cordoned one.
 */
export const DRAIN_SURVIVAL = {
  nodeAffinity: {
    ...requiredNodes(),
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, preference: { matchExpressions: [{ key: UPDATING_LABEL, operator: 'DoesNotExist' }] } },
    ],
  } satisfies k8s.NodeAffinity,
  toleration: {
    key: 'node.kubernetes.io/unschedulable',
    operator: 'Exists',
    effect: 'NoSchedule',
  } satisfies k8s.Toleration,
};

interface SchedulingOptions {
  readonly component: Component;
  readonly nodeAffinity: k8s.NodeAffinity;
  /** Those that hold where the props name none. @default none */
  readonly spread?: readonly TopologySpreadConstraint[];
}

/** Where the pods of a process run, and with which priority. */
export function scheduling(settings: Settings, options: SchedulingOptions): Omit<k8s.PodSpec, 'containers'> {
  const { component, nodeAffinity, spread = [] } = options;
  const { priorityClassName = ownPriority(settings, component), ...workload } = settings[component];
  const constraints = ('topologySpreadConstraints' in workload && workload.topologySpreadConstraints) || spread;
  return {
    ...(priorityClassName !== undefined && { priorityClassName }),
    affinity: { nodeAffinity, ...podAffinities(component, workload) },
    ...(constraints.length > 0 && { topologySpreadConstraints: constraints.map((one) => spreading(component, one)) }),
  };
}

function podAffinities(component: Component, workload: Pick<WorkloadProps, 'podAffinity' | 'podAntiAffinity'>) {
  const { podAffinity, podAntiAffinity = component === 'agent' ? undefined : apart(component) } = workload;
  return {
    ...(podAffinity && { podAffinity: podAffinity as k8s.PodAffinity }),
    ...(podAntiAffinity && { podAntiAffinity: podAntiAffinity as k8s.PodAntiAffinity }),
  };
}

function spreading(component: Component, constraint: TopologySpreadConstraint): k8s.TopologySpreadConstraint {
  const { labelSelector = { matchLabels: selectorLabels(component) } } = constraint;
  return { ...constraint, labelSelector: labelSelector as k8s.LabelSelector };
}

function ownPriority({ createPriorityClasses }: Settings, component: Component): string | undefined {
  if (!createPriorityClasses) return undefined;
  return component === 'agent' ? AGENT_PRIORITY : HIGH_PRIORITY;
}

/**
 * Puts replicas on different hosts where it can, but rather together than on a node that is being updated. The scheduler scales preferences
 * for nodes and preferences for pods alike before it adds them. With a replica on each of the other nodes, the node that a drain has just
 * emptied would win in spite of the preference above. So that preference is stated for pods as well: an agent runs on every such node.
 */
function apart(component: Component): k8s.PodAntiAffinity {
  return {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, podAffinityTerm: near('agent', UPDATING_LABEL) },
      { weight: 50, podAffinityTerm: near(component, 'kubernetes.io/hostname') },
    ],
  };
}

function near(component: Component, topologyKey: string): k8s.PodAffinityTerm {
  return { labelSelector: { matchLabels: selectorLabels(component) }, topologyKey };
}
