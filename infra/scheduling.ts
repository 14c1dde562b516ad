import type { k8s } from 'cdk8s-plus-28';
import { UPDATING_LABEL } from '../runtime/api/marks/names.ts';
import { type Component, selectorLabels } from './labels.ts';
import { AGENT_PRIORITY, HIGH_PRIORITY } from './names.ts';
import type { Settings } from './props/brupop.ts';
import type { NodeAffinity, TopologySpreadConstraint } from './props/scheduling.ts';
import type { WorkloadProps } from './props/workload.ts';

const PLATFORM: k8s.NodeSelectorRequirement[] = [
  { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
];

/** Nodes that a process needs, and those that it had better have. */
interface Nodes {
  /** Besides a platform that the image runs on. @default none */
  readonly required?: readonly k8s.NodeSelectorRequirement[];
  /** @default none */
  readonly preferred?: readonly k8s.PreferredSchedulingTerm[];
}

/** How a Deployment's pods survive the drains that they order: they move to a node that is not being updated, where there is one. */
export const NOT_UPDATING: Nodes = {
  preferred: [{ weight: 100, preference: { matchExpressions: [{ key: UPDATING_LABEL, operator: 'DoesNotExist' }] } }],
};

const ON_CORDONED: k8s.Toleration = {
  key: 'node.kubernetes.io/unschedulable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** Machines that have just joined keep all other pods away until they are updated. */
export const arriving = ({ controller }: Settings): k8s.Toleration => ({
  key: controller.arrivingTaint,
  operator: 'Exists',
  effect: 'NoSchedule',
});

/** Taints that the pods of a Deployment tolerate. Where all nodes bear one, those may not be kept away by whose work it goes. */
export function tolerations(settings: Settings, component: Component): Pick<k8s.PodSpec, 'tolerations'> {
  const own = [arriving(settings), ...(settings.tolerateCordons ? [ON_CORDONED] : [])];
  return { tolerations: [...own, ...(settings[component].tolerations as k8s.Toleration[])] };
}

interface SchedulingOptions {
  readonly component: Component;
  readonly nodes: Nodes;
  /** Those that hold where the props name none. @default none */
  readonly spread?: readonly TopologySpreadConstraint[];
}

/** Where the pods of a process run, and with which priority. */
export function scheduling(settings: Settings, options: SchedulingOptions): Omit<k8s.PodSpec, 'containers'> {
  const { component, nodes, spread = [] } = options;
  const { priorityClassName = ownPriority(settings, component), ...workload } = settings[component];
  const constraints = ('topologySpreadConstraints' in workload && workload.topologySpreadConstraints) || spread;
  return {
    ...(priorityClassName !== undefined && { priorityClassName }),
    affinity: { nodeAffinity: nodeAffinity(nodes, workload.nodeAffinity), ...podAffinities(component, workload) },
    ...(constraints.length > 0 && { topologySpreadConstraints: constraints.map((one) => spreading(component, one)) }),
  };
}

/** What the user asks for holds besides: terms are alternatives, so each of them has the operator's own requirements. */
function nodeAffinity(nodes: Nodes, asked: NodeAffinity = {}): k8s.NodeAffinity {
  const { required = [], preferred = [] } = nodes;
  const { nodeSelectorTerms = [{ matchExpressions: [] }] } = asked.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const preferences = [
    ...preferred,
    ...((asked.preferredDuringSchedulingIgnoredDuringExecution ?? []) as k8s.PreferredSchedulingTerm[]),
  ];
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: nodeSelectorTerms.map(({ matchExpressions }) => ({
        matchExpressions: [...PLATFORM, ...required, ...(matchExpressions as k8s.NodeSelectorRequirement[])],
      })),
    },
    ...(preferences.length > 0 && { preferredDuringSchedulingIgnoredDuringExecution: preferences }),
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
