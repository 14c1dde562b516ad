import * as z from 'zod';
import { agentEnv } from '../../runtime/agent/config.ts';
import { absolutePath, flag, listenPort, numberOrPercentage, someText, tunable } from './fields.ts';
import { type Resources, resourceProps } from './resources.ts';
import { workloadFields, type WorkloadProps } from './workload.ts';

export interface AgentProps extends WorkloadProps {
  /** Seconds between a node's exclusion from load balancers and its drain; 0 = it is not excluded. @default 0 */
  readonly excludeFromLbWaitTimeInSec?: number;
  /** Seconds between two looks for updates, jittered. @default 120 */
  readonly updateCheckIntervalInSec?: number;
  /** Port of /healthz and /readyz. @default 8080 */
  readonly httpPort?: number;
  /** How agents are replaced by newer ones. @default RollingUpdate, 10% at a time */
  readonly updateStrategy?: AgentUpdateStrategy;
  /** The update API's socket on the host. @default /run/api.sock */
  readonly apiSocket?: string;
  /**
   * Whether nodes of the first operator's interface, labelled `bottlerocket.aws/updater-interface-version=1.0.0`, are updated as well, by an agent
   * that is root on its host: it runs the host's own updog in the host's root. @default false
   */
  readonly interfaceV1?: boolean;
  /** Requests and limits of those agents: updog unpacks images in their container. @default 600Mi at most, as the first operator's */
  readonly interfaceV1Resources?: Resources;
  /** SELinux type of the container; the host lets only `super_t` and `control_t` speak to its API. @default super_t */
  readonly seLinuxType?: string;
}

/** As of a DaemonSet. Agents are never doubled on a node. */
export interface AgentUpdateStrategy {
  /** `OnDelete`: whoever deletes a pod gets the newer one. @default RollingUpdate */
  readonly type?: 'RollingUpdate' | 'OnDelete';
  /** Nodes that may be without an agent meanwhile: a number or a percentage. @default 10% */
  readonly maxUnavailable?: number | string;
}

const RESOURCES = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } };
const INTERFACE_V1_RESOURCES = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '600Mi' } };

/** @internal */
export const agentProps = z.strictObject({
  ...workloadFields(RESOURCES, agentEnv),
  excludeFromLbWaitTimeInSec: tunable(agentEnv.EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC),
  updateCheckIntervalInSec: tunable(agentEnv.UPDATE_CHECK_INTERVAL_IN_SEC),
  httpPort: listenPort(agentEnv.HTTP_PORT),
  interfaceV1: flag.default(false),
  interfaceV1Resources: resourceProps(INTERFACE_V1_RESOURCES),
  updateStrategy: z
    .strictObject({
      type: z.enum(['RollingUpdate', 'OnDelete'], 'expected RollingUpdate or OnDelete').default('RollingUpdate'),
      maxUnavailable: numberOrPercentage.default('10%'),
    } satisfies Record<keyof AgentUpdateStrategy, z.ZodType>)
    .prefault({}),
  apiSocket: absolutePath.default(agentEnv.BOTTLEROCKET_API_SOCKET.default),
  seLinuxType: someText.default('super_t'),
} satisfies Record<keyof AgentProps, z.ZodType>);
