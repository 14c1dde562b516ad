import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { Component } from './labels.ts';
import { manifest } from './manifest.ts';
import { AUTH_DELEGATOR_BINDING, CHANNELS_ROLE, roleName, SERVICE_ACCOUNTS } from './names.ts';
import { notifies } from './notifications.ts';
import { addObject, globalMeta, namespacedMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';
import {
  CHANNEL_RULES,
  CHECK_JOB_RULES,
  checkObjectRules,
  LIFECYCLE_RULE,
  NOTIFICATION_RULE,
  rules,
  writesLifecycle,
} from './rules.ts';
import { ServiceAccount } from './service-account.ts';

interface AccessProps {
  readonly settings: Settings;
  readonly component: Component;
}

interface Granted {
  readonly name: string;
  readonly granted: readonly k8s.PolicyRule[];
  /** @default the operator's */
  readonly namespace?: string;
}

const RBAC = 'rbac.authorization.k8s.io';

/** What the controller may do besides where settings ask for it: in the whole cluster. */
const optionalRules = (settings: Settings): readonly k8s.PolicyRule[] => [
  ...(writesLifecycle(settings) ? [LIFECYCLE_RULE] : []),
  ...checkObjectRules(settings),
];

/** Likewise in the operator's namespace. */
const optionalRulesInside = (settings: Settings): readonly k8s.PolicyRule[] => [
  ...(notifies(settings) ? [NOTIFICATION_RULE] : []),
  ...(settings.controller.checkJobs ? CHECK_JOB_RULES : []),
];

/** The identity of one process and all that it may do. */
export class Access extends Construct {
  readonly serviceAccount: ServiceAccount;
  readonly clusterRole: ApiObject;
  readonly clusterRoleBinding: ApiObject;
  readonly role: ApiObject;
  readonly roleBinding: ApiObject;
  readonly #props: AccessProps;

  /** @internal */
  constructor(scope: Construct, id: string, props: AccessProps) {
    super(scope, id);
    this.#props = props;
    const { settings, component } = props;
    const name = roleName(component);
    this.serviceAccount = new ServiceAccount(
      this,
      'ServiceAccount',
      manifest('ServiceAccount', {
        metadata: namespacedMeta(settings, { name: SERVICE_ACCOUNTS[component], component }),
        // Each pod that wants the token says so itself.
        automountServiceAccountToken: false,
      }),
    );
    const granted = rules(component, settings.namespace);
    this.clusterRole = addObject(
      this,
      'ClusterRole',
      manifest('ClusterRole', {
        metadata: globalMeta(settings, { name, component }),
        rules: [...granted.cluster, ...(component === 'controller' ? optionalRules(settings) : [])],
      }),
    );
    this.clusterRoleBinding = this.#bindClusterRole('ClusterRoleBinding', { binding: `${name}-binding`, role: name });
    const namespaced = [...granted.namespace, ...(component === 'controller' ? optionalRulesInside(settings) : [])];
    [this.role, this.roleBinding] = this.#addRole('Role', { name, granted: namespaced });
    if (component === 'controller' && settings.k3os.enabled) {
      const { namespace } = settings.k3os;
      this.#addRole('ChannelsRole', { name: CHANNELS_ROLE, granted: CHANNEL_RULES, namespace });
    }
  }

  /**
   * Lets the process ask the API server whose token it was shown. Kubernetes' own role also lets it ask what anybody may do, which a role
   * of ours would not. But the role of a binding can never be changed, so existing installations could not be brought up to date.
   */
  delegateAuthentication(): ApiObject {
    return this.#bindClusterRole('AuthDelegator', { binding: AUTH_DELEGATOR_BINDING, role: 'system:auth-delegator' });
  }

  #addRole(id: string, { name, granted, namespace }: Granted): [role: ApiObject, binding: ApiObject] {
    const { settings, component } = this.#props;
    const metadata = namespacedMeta(settings, { name, component, namespace });
    return [
      addObject(this, id, manifest('Role', { metadata, rules: [...granted] })),
      addObject(
        this,
        `${id}Binding`,
        manifest('RoleBinding', {
          metadata: { ...metadata, name: `${name}-binding` },
          roleRef: { apiGroup: RBAC, kind: 'Role', name },
          subjects: [this.#subject()],
        }),
      ),
    ];
  }

  #bindClusterRole(id: string, { binding, role }: { readonly binding: string; readonly role: string }): ApiObject {
    const { settings, component } = this.#props;
    return addObject(
      this,
      id,
      manifest('ClusterRoleBinding', {
        metadata: globalMeta(settings, { name: binding, component }),
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
        subjects: [this.#subject()],
      }),
    );
  }

  #subject(): k8s.Subject {
    const { settings, component } = this.#props;
    return { kind: 'ServiceAccount', name: SERVICE_ACCOUNTS[component], namespace: settings.namespace };
  }
}
