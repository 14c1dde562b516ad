import type { ApiObjectProps } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';

/**
 * Types of cdk8s-plus alone: its classes of Kubernetes' API are ten megabytes, which whoever embeds the package would load for the sake of
 * names. The few fields whose names differ from those of the API are named by the API, where they are written.
 */
interface Kinds {
  readonly ClusterRole: k8s.KubeClusterRoleProps;
  readonly ClusterRoleBinding: k8s.KubeClusterRoleBindingProps;
  readonly ConfigMap: k8s.KubeConfigMapProps;
  readonly CustomResourceDefinition: k8s.KubeCustomResourceDefinitionProps;
  readonly DaemonSet: k8s.KubeDaemonSetProps;
  readonly Deployment: k8s.KubeDeploymentProps;
  readonly Namespace: k8s.KubeNamespaceProps;
  readonly NetworkPolicy: k8s.KubeNetworkPolicyProps;
  readonly PodDisruptionBudget: k8s.KubePodDisruptionBudgetProps;
  readonly PriorityClass: k8s.KubePriorityClassProps;
  readonly Role: k8s.KubeRoleProps;
  readonly RoleBinding: k8s.KubeRoleBindingProps;
  readonly Service: k8s.KubeServiceProps;
  readonly ServiceAccount: k8s.KubeServiceAccountProps;
}

const API_VERSIONS: Readonly<Record<keyof Kinds, string>> = {
  ClusterRole: 'rbac.authorization.k8s.io/v1',
  ClusterRoleBinding: 'rbac.authorization.k8s.io/v1',
  ConfigMap: 'v1',
  CustomResourceDefinition: 'apiextensions.k8s.io/v1',
  DaemonSet: 'apps/v1',
  Deployment: 'apps/v1',
  Namespace: 'v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  PriorityClass: 'scheduling.k8s.io/v1',
  Role: 'rbac.authorization.k8s.io/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
  Service: 'v1',
  ServiceAccount: 'v1',
};

/** An object of a built-in kind. */
export function manifest<K extends keyof Kinds>(kind: K, fields: Kinds[K]): ApiObjectProps {
  return { apiVersion: API_VERSIONS[kind], kind, ...fields };
}

/** A number, or a text such as `10%` or the name of a port. */
export const intOrString = (value: number | string): k8s.IntOrString => value as unknown as k8s.IntOrString;

export const quantity = (value: number | string): k8s.Quantity => String(value) as unknown as k8s.Quantity;

export const validation = (schema: k8s.JsonSchemaProps): k8s.CustomResourceValidation =>
  ({ openAPIV3Schema: schema }) as k8s.CustomResourceValidation;

/** For pods that see the processes of their host. */
export const HOST_PID = { hostPID: true } as Omit<k8s.PodSpec, 'containers'>;
