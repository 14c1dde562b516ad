import * as z from 'zod';
import { CONTROLLER_ALLOCATOR, controllerEnv } from '../../runtime/controller/config.ts';
import { choiceOf, count, countOrText, flagOf, listenPort, textIn, textOf, tunable } from './fields.ts';
import { type ScheduleProps, scheduleProps } from './schedule.ts';
import { type TopologySpreadConstraint, topologySpreadConstraints } from './scheduling.ts';
import { servedFields, type ServedProps, workloadFields, type WorkloadProps } from './workload.ts';

export interface ControllerProps extends WorkloadProps, ServedProps {
  /** More than one are a leader and its stand-bys. @default 1 */
  readonly replicas?: number;
  /** How the pods are spread over the cluster. @default none */
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | undefined;
  /** Nodes that may be updating at once: a number up to 600, a percentage such as `10%`, or `unlimited`, which both come to 600 at most. @default 1 */
  readonly maxConcurrentUpdate?: number | string;
  /**
   * Nodes that wait for their turn and prepare their update meanwhile, in service: a number up to 600, a percentage, `unlimited`, or `auto` for as many
   * as may be updating at once; 0 = none. @default auto
   */
  readonly readAhead?: number | string;
  /** Nodes that may fail on a version before it is halted: a number, a percentage or `unlimited`. @default 10% */
  readonly maxFailedUpdate?: number | string;
  /**
   * Managed nodes that may be not Ready before nothing new is disturbed: a number or a percentage, never fewer than 3; `100%` = never. Those that are
   * being updated, or that a person holds, do not count. @default 10%
   */
  readonly maxUnhealthy?: number | string;
  /**
   * Nodes of a variant and architecture that must run a version and be well before more start on it: a number up to 600, or a percentage such as
   * `5%`. @default 1
   */
  readonly proofNodes?: number | string;
  /** Seconds that a release must have been offered in this cluster before it starts. @default 0 */
  readonly minReleaseAgeInSec?: number;
  /** No version above it starts, e.g. `1.62.0`; `latest` = no limit. @default latest */
  readonly maxVersion?: string;
  /** Whether checks of policies may run Jobs, made of suspended CronJobs in the operator's namespace. @default false */
  readonly checkJobs?: boolean;
  /** Objects whose conditions checks of policies may read. @default none */
  readonly checkObjects?: readonly CheckedObjects[];
  /** Where checks of policies ask their queries, e.g. `http://prometheus.monitoring:9090`. @default nowhere */
  readonly prometheusUrl?: string | undefined;
  /** When updates may start. @default always */
  readonly schedule?: ScheduleProps;
  /** Seconds that a node must be Ready after its update. @default 0 */
  readonly monitoringTimeInSec?: number;
  /** Seconds that the update waits, once its node is back, until the workloads that its drain has moved run again; 0 = not at all. @default 300 */
  readonly settleTimeInSec?: number;
  /** Whether workloads that do not run again by then count as a failure of the update. @default false */
  readonly settleFails?: boolean;
  /** Seconds that it may be not Ready then before it counts as failed. @default 900 */
  readonly monitoringTimeoutInSec?: number;
  /** Seconds that a node may be without a running agent. @default 900 */
  readonly agentTimeoutInSec?: number;
  /** Seconds that a requested reboot may take. @default 900 */
  readonly nodeReturnTimeoutInSec?: number;
  /** Seconds that a node which is not Ready holds a permit, so that fewer others start; 0 = none. @default 3600 */
  readonly notReadyHoldInSec?: number;
  /** Seconds for which what was read of the cluster counts as current; nothing is disturbed anew after that; 15 or more. @default 90 */
  readonly cacheTimeoutInSec?: number;
  /** Seconds that a host may fail to look for updates before its node is said to be unable to. @default 3600 */
  readonly checkFailedAfterInSec?: number;
  /**
   * Key of the taint that you give to machines as they join (user data, Karpenter's `startupTaints`), so that they are updated before pods land on them:
   * `KEY:NoSchedule`. All our pods tolerate it, and the controller takes it away. @default brupop.bottlerocket.aws/arriving
   */
  readonly arrivingTaint?: string;
  /** Whether Bottlerocket nodes get the label that asks for updates, each one once. @default false */
  readonly labelNodes?: boolean;
  /**
   * Whether Nodes say where their updates are in the annotations of the first operator, `bottlerocket.aws/action-wanted`, `action-active`, `action-state`,
   * `update-available` (which is a label as well) and `operator-version`. Nothing reads them back. @default false
   */
  readonly nodeAnnotations?: boolean;
  /**
   * Alpha. `written`: managed Nodes say where their updates are in Kubernetes' lifecycle conditions MaintenancePlanned, DrainInProgress,
   * Drained and MaintenanceInProgress. `removed`: the controller takes its own away, for which it needs the same right. @default none
   * @see https://kubernetes.io/docs/reference/node/node-lifecycle-conditions/
   */
  readonly nodeLifecycleConditions?: 'none' | 'written' | 'removed';
  /** `stop`: nothing new is disturbed while another namespace has shadows, which are another operator's. `ignore`: both are meant. @default stop */
  readonly otherOperators?: 'stop' | 'ignore';
  /** Port of /metrics, /healthz, /readyz and /plan. @default 8080 */
  readonly httpPort?: number;
}

/** Kinds of objects, as a rule of a ClusterRole names them. */
export interface CheckedObjects {
  /** `''` is the core group. */
  readonly apiGroups: readonly string[];
  /** In the plural, e.g. `deployments`. */
  readonly resources: readonly string[];
  /** @default all of them */
  readonly resourceNames?: readonly string[] | undefined;
}

const words = (expected: string) =>
  z
    .array(z.string(`expected ${expected}`))
    .min(1, `expected ${expected}`)
    .readonly();

const checkedObjects = z.strictObject({
  apiGroups: words('groups of the API ("" is the core group)'),
  resources: words('resources such as deployments'),
  resourceNames: words('names of objects').optional(),
} satisfies Record<keyof CheckedObjects, z.ZodType>);

const RESOURCES = { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } };

/** @internal */
export const controllerProps = z.strictObject({
  ...workloadFields(RESOURCES, { ...controllerEnv, ...CONTROLLER_ALLOCATOR }),
  ...servedFields,
  topologySpreadConstraints: topologySpreadConstraints.optional(),
  replicas: count(1).default(1),
  maxConcurrentUpdate: countOrText(controllerEnv.MAX_CONCURRENT_UPDATE),
  readAhead: countOrText(controllerEnv.READ_AHEAD),
  maxFailedUpdate: countOrText(controllerEnv.MAX_FAILED_UPDATE),
  maxUnhealthy: countOrText(controllerEnv.MAX_UNHEALTHY),
  proofNodes: countOrText(controllerEnv.PROOF_NODES),
  minReleaseAgeInSec: tunable(controllerEnv.MIN_RELEASE_AGE_IN_SEC),
  maxVersion: textOf(controllerEnv.MAX_VERSION),
  checkJobs: z.boolean('expected true or false').default(false),
  checkObjects: z.array(checkedObjects).readonly().default([]),
  prometheusUrl: textIn(controllerEnv.PROMETHEUS_URL).optional(),
  schedule: scheduleProps,
  monitoringTimeInSec: tunable(controllerEnv.MONITORING_TIME_IN_SEC),
  settleTimeInSec: tunable(controllerEnv.SETTLE_TIME_IN_SEC),
  settleFails: flagOf(controllerEnv.SETTLE_FAILS),
  monitoringTimeoutInSec: tunable(controllerEnv.MONITORING_TIMEOUT_IN_SEC),
  agentTimeoutInSec: tunable(controllerEnv.AGENT_TIMEOUT_IN_SEC),
  nodeReturnTimeoutInSec: tunable(controllerEnv.NODE_RETURN_TIMEOUT_IN_SEC),
  notReadyHoldInSec: tunable(controllerEnv.NOT_READY_HOLD_IN_SEC),
  cacheTimeoutInSec: tunable(controllerEnv.CACHE_TIMEOUT_IN_SEC),
  checkFailedAfterInSec: tunable(controllerEnv.CHECK_FAILED_AFTER_IN_SEC),
  arrivingTaint: textOf(controllerEnv.ARRIVING_TAINT),
  labelNodes: flagOf(controllerEnv.LABEL_NODES),
  nodeAnnotations: flagOf(controllerEnv.NODE_ANNOTATIONS),
  nodeLifecycleConditions: choiceOf(controllerEnv.NODE_LIFECYCLE_CONDITIONS),
  otherOperators: choiceOf(controllerEnv.OTHER_OPERATORS),
  httpPort: listenPort(controllerEnv.HTTP_PORT),
} satisfies Record<keyof ControllerProps, z.ZodType>);
