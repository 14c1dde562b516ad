import type { k8s } from 'cdk8s-plus-28';
import { CONTROLLER_LEASE, CRD_NAME, GROUP, PLURAL } from '../runtime/shadow/names.ts';
import type { Component } from './labels.ts';

export interface Rules {
  /** Granted for the whole cluster. */
  readonly cluster: readonly k8s.PolicyRule[];
  /** Granted in the operator's namespace alone. */
  readonly namespace: readonly k8s.PolicyRule[];
  /** Granted in the namespace `default` alone, where Events about objects live that have none. */
  readonly default: readonly k8s.PolicyRule[];
}

/** Records what the operator did, and counts it up when it happens again. */
const EVENTS: k8s.PolicyRule = { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] };

const CRD = { apiGroups: ['apiextensions.k8s.io'], resourceNames: [CRD_NAME] };

/** What each process may do, and nothing that it does not do. */
export function rules(component: Component, namespace: string): Rules {
  return RULES[component](namespace);
}

const RULES: Readonly<Record<Component, (namespace: string) => Rules>> = {
  agent: () => ({
    // Its own Node's UID, once and when a UID is refused.
    cluster: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    // Its own shadow, followed by name; all agents share one account, so the name cannot be part of the rule.
    namespace: [{ apiGroups: [GROUP], resources: [PLURAL], verbs: ['list', 'watch'] }],
    default: [],
  }),
  apiserver: () => ({
    cluster: [
      // Marks, cordon and labels; a drain watches for its own marks, and looks for another place for the operator's pods.
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
      // What is to be drained, wherever it lives; the very pod whose eviction was answered with a conflict; the agent's pod that a token names.
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      // Whose volumes those in use on a node are: the volumes of pods that stay are not waited for.
      { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: ['get'] },
      // Looked at before a drain.
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list'] },
    ],
    namespace: [
      { apiGroups: [GROUP], resources: [PLURAL], verbs: ['get', 'create'] },
      { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['patch'] },
    ],
    // Of Nodes alone.
    default: [EVENTS],
  }),
  controller: (namespace) => ({
    cluster: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
      // Its own namespace bears the annotation that pauses the fleet.
      { apiGroups: [''], resources: ['namespaces'], resourceNames: [namespace], verbs: ['list', 'watch'] },
      // Moving stored objects to the present version: the CRD's status says that none is left in another, in any namespace.
      { apiGroups: [GROUP], resources: [PLURAL], verbs: ['list'] },
      { ...CRD, resources: ['customresourcedefinitions'], verbs: ['get'] },
      { ...CRD, resources: ['customresourcedefinitions/status'], verbs: ['patch'] },
    ],
    namespace: [
      { apiGroups: [GROUP], resources: [PLURAL], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
      { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['patch'] },
      // Agents that run, or do not.
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      // Leadership and slots. A create names no object yet, so it cannot be granted by name.
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [CONTROLLER_LEASE],
        verbs: ['get', 'update'],
      },
      // Of shadows, and of the fleet on the Lease.
      EVENTS,
    ],
    // Of Nodes that have no shadow.
    default: [EVENTS],
  }),
};
