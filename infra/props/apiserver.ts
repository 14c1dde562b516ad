import * as z from 'zod';
import { agentEnv } from '../../runtime/agent/config.ts';
import { APISERVER_ALLOCATOR, apiserverEnv } from '../../runtime/apiserver/config.ts';
import { choiceOf, count, flag, listenPort, afterOwnChecks, portFrom, tunable } from './fields.ts';
import { type TopologySpreadConstraint, topologySpreadConstraints } from './scheduling.ts';
import { servedFields, type ServedProps, workloadFields, type WorkloadProps } from './workload.ts';

export interface ApiserverProps extends WorkloadProps, ServedProps {
  /** Pods that serve. @default 3 */
  readonly replicas?: number;
  /** How the pods are spread over the cluster. @default by zone, as far as there are any */
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | undefined;
  /**
   * Whether the pods share their node's network, for clusters whose API server does not reach the addresses of pods. The ports are then the
   * node's, and network policies do not apply. @default false
   */
  readonly hostNetwork?: boolean;
  /** How the pods look names up. @default ClusterFirst, with `hostNetwork` ClusterFirstWithHostNet */
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | undefined;
  /** TLS port of the container. @default 8443 */
  readonly internalPort?: number;
  /** Port of the Service. @default 443 */
  readonly servicePort?: number;
  /** Plain port of /metrics, /healthz and /readyz. @default 8080 */
  readonly httpPort?: number;
  /**
   * Whether agents must show a certificate besides their token. It lies, with its key, on every node; with `certificates.kind` `secret` it is
   * tls.crt and tls.key of `caSecret`. @default false
   */
  readonly requireClientCertificate?: boolean;
  /** Seconds that a drain may take; 0 = no limit. @default 1800 */
  readonly drainTimeoutInSec?: number;
  /**
   * What to do before a drain about pods that no eviction can move as things are (a disruption budget without a spare pod, two budgets on
   * one pod): `warn` drains and says so, `refuse` leaves a node that bears no marks yet in service until that has
   * changed. @default warn
   */
  readonly drainPreflight?: 'warn' | 'refuse';
  /**
   * Seconds, counted from the first refusal over all attempts for a version, after which a drain is tried though `drainPreflight: refuse` would
   * refuse it. It has its deadline like any other. 0 = refused for as long as the reason lasts. @default 1800
   */
  readonly drainRefusalTimeoutInSec?: number;
  /**
   * Seconds that a drain waits, once its pods are gone, until the kubelet has unmounted their volumes; then the node reboots all the same.
   * 0 = not at all. @default 120
   */
  readonly volumeDetachTimeoutInSec?: number;
  /**
   * Seconds that a drain waits for a pod that is ending after it should have ended, if the node has been Ready since; then the node reboots
   * all the same, which may be all that ends the pod. 0 = no limit. @default 300
   */
  readonly skipWaitForDeleteTimeoutInSec?: number;
  /** Eviction requests in flight for one drain. @default 5 */
  readonly maxConcurrentEvictions?: number;
}

const RESOURCES = { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '256Mi' } };

/** @internal */
export const apiserverProps = z
  .strictObject({
    ...workloadFields(RESOURCES, { ...apiserverEnv, ...APISERVER_ALLOCATOR }),
    ...servedFields,
    topologySpreadConstraints: topologySpreadConstraints.optional(),
    replicas: count(1).default(3),
    hostNetwork: flag.default(false),
    dnsPolicy: z
      .enum(
        ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default'],
        'expected ClusterFirst, ClusterFirstWithHostNet or Default',
      )
      .optional(),
    internalPort: listenPort(apiserverEnv.APISERVER_INTERNAL_PORT),
    servicePort: portFrom(1).default(Number(agentEnv.APISERVER_SERVICE_PORT.default)),
    httpPort: listenPort(apiserverEnv.HTTP_PORT),
    requireClientCertificate: flag.default(false),
    drainTimeoutInSec: tunable(apiserverEnv.DRAIN_TIMEOUT_IN_SEC),
    drainPreflight: choiceOf(apiserverEnv.DRAIN_PREFLIGHT),
    drainRefusalTimeoutInSec: tunable(apiserverEnv.DRAIN_REFUSAL_TIMEOUT_IN_SEC),
    volumeDetachTimeoutInSec: tunable(apiserverEnv.VOLUME_DETACH_TIMEOUT_IN_SEC),
    skipWaitForDeleteTimeoutInSec: tunable(apiserverEnv.SKIP_WAIT_FOR_DELETE_TIMEOUT_IN_SEC),
    maxConcurrentEvictions: tunable(apiserverEnv.MAX_CONCURRENT_EVICTIONS),
  } satisfies Record<keyof ApiserverProps, z.ZodType>)
  .refine((apiserver) => apiserver.internalPort !== apiserver.httpPort, {
    path: ['httpPort'],
    message: 'expected another port than internalPort',
    ...afterOwnChecks('internalPort', 'httpPort'),
  });
