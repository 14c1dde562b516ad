import type { Condition, ContainerStatus, KubeObject, Node, Pod } from '../../runtime/kube/objects.ts';

/** Kubernetes objects as far as the simulated controllers and kubelets read or write them. */

export interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly Expression[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly Expression[];
  readonly matchFields?: readonly Expression[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey?: string;
}

export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
    };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number;
      readonly preference: NodeSelectorTerm;
    }[];
  };
  readonly podAntiAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number;
      readonly podAffinityTerm: PodAffinityTerm;
    }[];
  };
}

export interface PodSpec extends NonNullable<Pod['spec']> {
  readonly containers?: readonly { readonly name: string; readonly image?: string }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly topologySpreadConstraints?: readonly PodAffinityTerm[];
}

export interface ContainerState extends ContainerStatus {
  readonly restartCount?: number;
  readonly ready?: boolean;
}

export interface SimPod extends Pod {
  readonly spec?: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly startTime?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerState[];
  };
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface SimNode extends Node {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

/** What DaemonSets, Deployments and ReplicaSets have in common. */
export interface Workload extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly generation?: number };
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
    };
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface Budget extends KubeObject {
  readonly metadata: Workload['metadata'];
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
  };
  readonly status?: { readonly disruptedPods?: Readonly<Record<string, string>> };
}

/** Everything that the simulated controllers decide on. */
export interface World {
  readonly nodes: readonly SimNode[];
  readonly pods: readonly SimPod[];
  readonly daemonSets: readonly Workload[];
  readonly deployments: readonly Workload[];
  readonly replicaSets: readonly Workload[];
  readonly budgets: readonly Budget[];
}
