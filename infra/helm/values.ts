import type { AgentProps } from '../props/agent.ts';
import type { ApiserverProps } from '../props/apiserver.ts';
import type { BrupopProps, LoggingProps, NetworkPolicyProps } from '../props/brupop.ts';
import type { ControllerProps } from '../props/controller.ts';
import type { ImageProps } from '../props/image.ts';
import type { NotificationProps } from '../props/notifications.ts';
import { settingsOf } from '../props/settings.ts';
import type { ServedProps, WorkloadProps } from '../props/workload.ts';
import type { AlertsProps } from '../monitoring/alerts.ts';
import type { DashboardProps } from '../monitoring/dashboard.ts';
import type { MonitorsProps } from '../monitoring/monitors.ts';
import type { PeopleRolesProps } from '../people.ts';

/** Props without a value: Helm knows the release's name and namespace, and nodes that run k3OS are for those who synthesise. */
export const NO_VALUES = ['namespace', 'createNamespace', 'instance', 'k3os'] as const satisfies (keyof BrupopProps)[];

/**
 * How a value appears in values.yaml: with its default, not at all (then something else decides), or as it is given here. Helm merges maps,
 * so a map that is taken as a whole does not appear.
 */
export type Shown = 'default' | 'unset' | { readonly as: unknown };

const workload = {
  resources: 'default',
  nodeSelector: 'default',
  tolerations: 'default',
  priorityClassName: 'unset',
  nodeAffinity: 'unset',
  podAffinity: 'unset',
  podAntiAffinity: 'unset',
  logFilter: 'unset',
  env: 'default',
  minReadySeconds: 'default',
  workloadLabels: 'default',
  workloadAnnotations: 'default',
  podLabels: 'default',
  podAnnotations: 'default',
} satisfies Record<keyof WorkloadProps, Shown>;

const served = { serviceAnnotations: 'default' } satisfies Record<keyof ServedProps, Shown>;

/** Constructs beside the operator, each a group of values. */
type Companion = 'monitors' | 'alerts' | 'dashboard' | 'peopleRoles';
type Watching<Props> = Record<Exclude<keyof Props, 'brupop'> | 'enabled', Shown>;

/** Every value of the chart, by the name of its prop. A prop that is neither here nor above does not compile. */
export const VALUES = {
  cluster: 'default',
  createCrd: 'default',
  crdAnnotations: 'default',
  createPriorityClasses: 'default',
  tolerateCordons: 'default',
  clusterDomain: 'default',
  scrapePods: 'default',
  scrapeServices: 'default',
  image: {
    registry: 'default',
    repository: 'default',
    tag: 'default',
    digest: 'unset',
    pullPolicy: 'default',
    pullSecrets: 'default',
  } satisfies Record<keyof ImageProps, Shown>,
  repositories: 'unset',
  notifications: { targets: 'default', silences: 'default' } satisfies Record<keyof NotificationProps, Shown>,
  policies: 'default',
  logging: { format: 'default', ansi: 'default', filter: 'default' } satisfies Record<keyof LoggingProps, Shown>,
  labels: 'default',
  annotations: 'default',
  agent: {
    ...workload,
    excludeFromLbWaitTimeInSec: 'default',
    updateCheckIntervalInSec: 'default',
    httpPort: 'default',
    interfaceV1: 'default',
    interfaceV1Resources: 'default',
    updateStrategy: 'default',
    apiSocket: 'default',
    seLinuxType: 'default',
  } satisfies Record<keyof AgentProps, Shown>,
  apiserver: {
    ...workload,
    ...served,
    replicas: 'default',
    topologySpreadConstraints: 'unset',
    hostNetwork: 'default',
    dnsPolicy: 'unset',
    internalPort: 'default',
    servicePort: 'default',
    httpPort: 'default',
    requireClientCertificate: 'default',
    drainTimeoutInSec: 'default',
    volumeDetachTimeoutInSec: 'default',
    skipWaitForDeleteTimeoutInSec: 'default',
    drainPreflight: 'default',
    drainRefusalTimeoutInSec: 'default',
    maxConcurrentEvictions: 'default',
  } satisfies Record<keyof ApiserverProps, Shown>,
  controller: {
    ...workload,
    ...served,
    replicas: 'default',
    topologySpreadConstraints: 'unset',
    maxConcurrentUpdate: 'default',
    readAhead: 'default',
    maxFailedUpdate: 'default',
    maxUnhealthy: 'default',
    proofNodes: 'default',
    minReleaseAgeInSec: 'default',
    maxVersion: 'default',
    checkJobs: 'default',
    checkObjects: 'default',
    prometheusUrl: 'unset',
    schedule: 'unset',
    monitoringTimeInSec: 'default',
    settleTimeInSec: 'default',
    settleFails: 'default',
    monitoringTimeoutInSec: 'default',
    agentTimeoutInSec: 'default',
    nodeReturnTimeoutInSec: 'default',
    notReadyHoldInSec: 'default',
    cacheTimeoutInSec: 'default',
    checkFailedAfterInSec: 'default',
    arrivingTaint: 'default',
    labelNodes: 'default',
    nodeAnnotations: 'default',
    nodeLifecycleConditions: 'default',
    otherOperators: 'default',
    httpPort: 'default',
  } satisfies Record<keyof ControllerProps, Shown>,
  // The other values of a kind are not shown: Helm merges maps, so they would stay when a user chooses another kind.
  certificates: { as: { kind: 'self-signed' } },
  networkPolicies: {
    enabled: 'default',
    kubernetesApiPorts: 'default',
    kubernetesApiCidrs: 'unset',
    metricsNamespace: 'unset',
  } satisfies Record<keyof NetworkPolicyProps, Shown>,
  monitors: {
    enabled: { as: false },
    interval: { as: '30s' },
    namespace: 'unset',
    labels: { as: {} },
  } satisfies Watching<MonitorsProps>,
  alerts: { enabled: { as: false }, namespace: 'unset', labels: { as: {} } } satisfies Watching<AlertsProps>,
  dashboard: { enabled: { as: false }, namespace: 'unset', labels: 'unset' } satisfies Watching<DashboardProps>,
  peopleRoles: { enabled: { as: false } } satisfies Watching<PeopleRolesProps>,
  extraObjects: { as: [] },
  // Other charts of an umbrella chart read these too, and what switches this one on or off is the umbrella's.
  global: { imageRegistry: 'unset', imagePullSecrets: 'unset' },
  enabled: 'unset',
} satisfies Record<
  Exclude<keyof BrupopProps, (typeof NO_VALUES)[number]> | Companion | 'extraObjects' | 'global' | 'enabled',
  Shown | Readonly<Record<string, Shown>>
>;

export type Entries = Readonly<Record<string, Shown | Readonly<Record<string, Shown>>>>;

export const isShown = (entry: Entries[string]): entry is Shown => typeof entry === 'string' || 'as' in entry;

/** What stands in values.yaml, complete; `undefined` where nothing does. @param image that it names */
export function initialValues(image: Pick<BrupopProps, 'image'> = {}): Record<string, unknown> {
  const values = shown(VALUES, settingsOf(image));
  return { ...values, image: { ...(values['image'] as object), digest: image.image?.digest } };
}

/**
 * What a template goes by where a value is null or absent, as below a newer chart with `--reuse-values`. Requests and limits have their
 * defaults where they are used, since an amount that is taken out of one must not come back.
 */
export function defaultValues(image: Pick<BrupopProps, 'image'> = {}): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(initialValues(image), (key, value) => (/resources$/i.test(key) ? undefined : value)),
  );
}

function shown(entries: Entries, defaults: object): Record<string, unknown> {
  const initial = ([name, entry]: [string, Entries[string]]): [string, unknown] => {
    const value = (defaults as Record<string, unknown>)[name];
    if (!isShown(entry)) return [name, shown(entry, value ?? {})];
    if (typeof entry === 'object') return [name, entry.as];
    return [name, entry === 'default' ? value : undefined];
  };
  return Object.fromEntries(Object.entries(entries).map(initial));
}
