import type { k8s } from 'cdk8s-plus-28';
import { CHANNEL_PLURAL, K3OS_GROUP } from '../runtime/api/k3os/names.ts';
import { NOTIFICATIONS_STATE } from '../runtime/api/notifications/names.ts';
import { POLICY_PLURAL } from '../runtime/api/policy/names.ts';
import { RELEASE_PLURAL } from '../runtime/api/release/names.ts';
import { REPOSITORIES_STATE } from '../runtime/api/waves/names.ts';
import { CONTROL_PLANE_LEASES, CONTROLLER_LEASE, CRD_NAME, GROUP, PLURAL } from '../runtime/api/shadow/names.ts';
import type { Component } from './labels.ts';
import type { Settings } from './props/brupop.ts';

export interface Rules {
  /** Granted for the whole cluster. */
  readonly cluster: readonly k8s.PolicyRule[];
  /** Granted in the operator's namespace alone. */
  readonly namespace: readonly k8s.PolicyRule[];
}

/**
 * For the recorder: it creates Events, and patches the count of one that happens again. Those about Nodes live in the namespace `default`.
 * A Role there would be an object outside of the operator's namespace, which whatever confines a tenant refuses.
 */
const EVENTS: k8s.PolicyRule = { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] };

const CRD = { apiGroups: ['apiextensions.k8s.io'], resourceNames: [CRD_NAME] };

/** What the controller may do where UpdateChannels live. They have no subresource for the status, and a create names no object yet. */
export const CHANNEL_RULES: readonly k8s.PolicyRule[] = [
  { apiGroups: [K3OS_GROUP], resources: [CHANNEL_PLURAL], verbs: ['list', 'watch', 'create', 'patch'] },
];

/** For lifecycle conditions. The controller takes its own away under the same right. */
export const LIFECYCLE_RULE: k8s.PolicyRule = { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] };

/** For notifications: what was told is remembered in a ConfigMap, and who asks for a test says so there. */
export const NOTIFICATION_RULE: k8s.PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [NOTIFICATIONS_STATE],
  verbs: ['get', 'list', 'watch', 'patch'],
};

/** For checks that run Jobs. A Job ends, and goes, by itself. */
export const CHECK_JOB_RULES: readonly k8s.PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['get'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'create'] },
];

/** For checks that read the conditions of objects. */
export const checkObjectRules = ({ controller }: Pick<Settings, 'controller'>): readonly k8s.PolicyRule[] =>
  controller.checkObjects.map(({ apiGroups, resources, resourceNames }) => ({
    apiGroups: [...apiGroups],
    resources: [...resources],
    ...(resourceNames && { resourceNames: [...resourceNames] }),
    verbs: ['get'],
  }));

export function writesLifecycle({ controller }: Pick<Settings, 'controller'>): boolean {
  return controller.nodeLifecycleConditions !== 'none';
}

/** What each process may do, and nothing that it does not do. */
export function rules(component: Component, namespace: string): Rules {
  return RULES[component](namespace);
}

const RULES: Readonly<Record<Component, (namespace: string) => Rules>> = {
  agent: () => ({
    // The agent reads the UID of its own Node at the start, and again when the apiserver refuses it.
    cluster: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    // An agent watches its own shadow by name. All agents share one account, so the rule cannot name it.
    namespace: [{ apiGroups: [GROUP], resources: [PLURAL], verbs: ['list', 'watch'] }],
  }),
  apiserver: () => ({
    cluster: [
      // Patched: marks, cordon and labels. Watched: the marks of a drain. Listed: the nodes that pods of a drain could move to.
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
      // Listed and watched: the pods to drain, in any namespace, those where they could go, and those that an updated node's are compared with. Read: a pod whose eviction met a conflict, and the agent's pod that a token names.
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      // These tell whose volumes a node still uses: a drain does not wait for the volumes of pods that stay.
      { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: ['get'] },
      // Whose pods a drain evicts, and whether they are back after the update. Who may list pods sees no more by them.
      { apiGroups: ['apps'], resources: ['replicasets', 'statefulsets'], verbs: ['get'] },
      // The preflight of a drain reads them.
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['list'] },
      // A drain warns where it moves the only pods behind a webhook that decides on nodes, pods or evictions.
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
        verbs: ['list'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list'] },
      // About Nodes.
      EVENTS,
    ],
    namespace: [
      { apiGroups: [GROUP], resources: [PLURAL], verbs: ['get', 'create'] },
      { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['patch'] },
    ],
  }),
  controller: (namespace) => ({
    cluster: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
      // The annotation on the operator's namespace pauses the fleet. It is read once more before each start.
      { apiGroups: [''], resources: ['namespaces'], resourceNames: [namespace], verbs: ['get', 'list', 'watch'] },
      // Whether somebody makes and places what takes the place of evicted pods. Where they may not be read, nothing is said of it.
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [...CONTROL_PLANE_LEASES],
        verbs: ['get'],
      },
      // What is decided for groups of nodes.
      { apiGroups: [GROUP], resources: [POLICY_PLURAL], verbs: ['list', 'watch'] },
      // What became of it. The decisions themselves are other people's.
      { apiGroups: [GROUP], resources: [`${POLICY_PLURAL}/status`], verbs: ['patch'] },
      // How each release does, which the controller keeps; what people have decided on it stands there too.
      { apiGroups: [GROUP], resources: [RELEASE_PLURAL], verbs: ['list', 'watch', 'create', 'delete'] },
      { apiGroups: [GROUP], resources: [`${RELEASE_PLURAL}/status`], verbs: ['patch'] },
      // Storage migration: all shadows are rewritten in the present version, then the CRD's status drops the older ones.
      { apiGroups: [GROUP], resources: [PLURAL], verbs: ['list'] },
      { ...CRD, resources: ['customresourcedefinitions'], verbs: ['get'] },
      { ...CRD, resources: ['customresourcedefinitions/status'], verbs: ['patch'] },
      // About policies, Nodes that have no shadow, shadows, and about the fleet on the Lease.
      EVENTS,
    ],
    namespace: [
      { apiGroups: [GROUP], resources: [PLURAL], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
      { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['patch'] },
      // The controller watches which agents run.
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      // What was trusted of repositories is remembered, and what was told. A create names no object yet.
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: [REPOSITORIES_STATE], verbs: ['get', 'patch'] },
      // Leadership and permits. A create names no object yet, so it cannot be granted by name.
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [CONTROLLER_LEASE],
        verbs: ['get', 'update'],
      },
    ],
  }),
};
