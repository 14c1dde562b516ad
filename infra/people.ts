import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import * as z from 'zod';
import { CHANNEL_PLURAL, K3OS_GROUP } from '../runtime/api/k3os/names.ts';
import { NOTIFICATIONS_STATE } from '../runtime/api/notifications/names.ts';
import { POLICY_CRD_NAME, POLICY_PLURAL } from '../runtime/api/policy/names.ts';
import { RELEASE_CRD_NAME, RELEASE_PLURAL } from '../runtime/api/release/names.ts';
import { CONTROLLER_PORT_NAME, CONTROLLER_SERVICE, CRD_NAME, GROUP, PLURAL } from '../runtime/api/shadow/names.ts';
import type { Brupop } from './brupop.ts';
import { watchedOperator } from './monitoring/operator.ts';
import { manifest } from './manifest.ts';
import { notifies } from './notifications.ts';
import { addObject, globalMeta } from './objects.ts';
import { checkProps } from './props/settings.ts';

export interface PeopleRolesProps {
  /** The operator that people see and steer. */
  readonly brupop: Brupop;
}

/** @internal */
export const peopleRolesProps = z.strictObject({
  brupop: watchedOperator,
} satisfies Record<keyof PeopleRolesProps, z.ZodType>);

const READ = ['get', 'list', 'watch'];

/** Everything that `kubectl brupop` reads. It reads no Secrets. */
const VIEW: readonly k8s.PolicyRule[] = [
  { apiGroups: [GROUP], resources: [PLURAL, POLICY_PLURAL, RELEASE_PLURAL], verbs: READ },
  // The operator's own pods. `plan` reads all others too, and shows which ones no eviction can move.
  { apiGroups: [''], resources: ['nodes', 'pods', 'events'], verbs: READ },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: READ },
  { apiGroups: ['apps'], resources: ['deployments', 'daemonsets'], verbs: READ },
  // Who leads and has permits, and by which clocks kubelets write.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: READ },
  { apiGroups: ['cert-manager.io'], resources: ['certificates'], verbs: READ },
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: [CRD_NAME, POLICY_CRD_NAME, RELEASE_CRD_NAME],
    verbs: ['get'],
  },
];

/** For `kubectl brupop notify test`. */
const TESTS: k8s.PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [NOTIFICATIONS_STATE],
  verbs: ['get', 'patch'],
};

/** Through the API server. `pods/proxy` would open every pod of the namespace. */
const ASKS: k8s.PolicyRule = {
  apiGroups: [''],
  resources: ['services/proxy'],
  resourceNames: [`http:${CONTROLLER_SERVICE}:${CONTROLLER_PORT_NAME}`],
  verbs: ['get'],
};

/** The operator's own, for `logs` and `report`: those of every namespace would be those of all workloads. */
const LOGS: k8s.PolicyRule = { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] };

/** What k3OS nodes are to run. */
const CHANNELS: readonly k8s.PolicyRule[] = [{ apiGroups: [K3OS_GROUP], resources: [CHANNEL_PLURAL], verbs: READ }];

/**
 * Roles for people who use `kubectl brupop`, two of them of the whole cluster. They are bound to nobody, because the cluster's owner decides who gets them. The role `operate`
 * can patch every Node, as `kubectl drain` needs.
 */
export class PeopleRoles extends Construct {
  /** To see: `brupop-view`. */
  readonly view: ApiObject;
  /** To see and to steer: `brupop-operate`. */
  readonly operate: ApiObject;
  /** To ask the controller for its plan and to read the operator's logs, in its namespace: `brupop-plan`. Whoever has one of the others should have it too. */
  readonly plan: ApiObject;

  /** @throws InvalidPropsError */
  constructor(scope: Construct, id: string, props: PeopleRolesProps) {
    const { brupop } = checkProps(peopleRolesProps, props);
    super(scope, id);
    const { settings } = brupop;
    const home = { apiGroups: [''], resources: ['namespaces'], resourceNames: [settings.namespace] };
    const view = [...VIEW, ...(settings.k3os.enabled ? CHANNELS : []), { ...home, verbs: ['get'] }];
    const steer = [
      { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] },
      { apiGroups: [GROUP], resources: [POLICY_PLURAL], verbs: ['patch'] },
      // To halt a release before it is offered, it is created.
      { apiGroups: [GROUP], resources: [RELEASE_PLURAL], verbs: ['create', 'patch'] },
      // To clear failures.
      { apiGroups: [GROUP], resources: [`${RELEASE_PLURAL}/status`], verbs: ['patch'] },
      { ...home, verbs: ['patch'] },
    ];
    const asks = notifies(settings) ? [TESTS] : [];
    const role = (name: string, rules: k8s.PolicyRule[]) =>
      manifest('ClusterRole', { metadata: globalMeta(settings, { name }), rules });
    this.view = addObject(this, 'View', role('brupop-view', view));
    this.operate = addObject(this, 'Operate', role('brupop-operate', [...view, ...steer, ...asks]));
    const metadata = { ...globalMeta(settings, { name: 'brupop-plan' }), namespace: settings.namespace };
    this.plan = addObject(this, 'Plan', manifest('Role', { metadata, rules: [ASKS, LOGS] }));
  }
}
