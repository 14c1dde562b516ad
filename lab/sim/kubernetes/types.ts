import type {
  V1DaemonSetSpec,
  V1DeploymentSpec,
  V1NodeSelectorTerm,
  V1PodAffinityTerm,
  V1PodTemplateSpec,
  V1Taint,
} from '@kubernetes/client-node';
import type { Json, KubeObject, Node, Pod, PodDisruptionBudget } from '../../../runtime/kube/objects.ts';

/** Kubernetes objects as the simulated controllers and kubelets read or write them. */

export type NodeSelectorTerm = Json<V1NodeSelectorTerm>;
export type PodAffinityTerm = Json<V1PodAffinityTerm>;
export type Taint = Json<V1Taint>;
export type PodSpec = NonNullable<Pod['spec']>;
export type PodTemplate = Json<Omit<V1PodTemplateSpec, 'spec'>> & { readonly spec: PodSpec };

/** What DaemonSets, Deployments and ReplicaSets have in common. */
export interface Workload extends KubeObject {
  readonly spec: Json<Pick<V1DeploymentSpec, 'replicas' | 'selector'> & Pick<V1DaemonSetSpec, 'updateStrategy'>> & {
    readonly template: PodTemplate;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Everything that the simulated controllers decide on. */
export interface World {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly daemonSets: readonly Workload[];
  readonly deployments: readonly Workload[];
  readonly replicaSets: readonly Workload[];
  readonly budgets: readonly PodDisruptionBudget[];
}
