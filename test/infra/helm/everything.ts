import type { BrupopProps } from '../../../infra/props/brupop.ts';
import { CA } from '../pem.ts';

export type Values = Readonly<Record<string, unknown>>;

/** The props of a release, and what the chart has beside them. */
export type Given = BrupopProps & { readonly monitors?: Values } & Readonly<
    Partial<Record<'alerts' | 'dashboard' | 'peopleRoles', Values>>
  >;

const near = {
  preferredDuringSchedulingIgnoredDuringExecution: [],
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack' }],
};
const workload = {
  resources: { requests: { cpu: '30m' }, limits: { cpu: 1, memory: '1Gi', 'ephemeral-storage': 1e9 } },
  nodeSelector: { pool: 'a' },
  tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 }],
  priorityClassName: 'system-cluster-critical',
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'pool', operator: 'In', values: ['a', 'b'] }] },
        { matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['4'] }] },
      ],
    },
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' }] } },
    ],
  },
  podAffinity: near,
  podAntiAffinity: near,
  logFilter: 'brupop=debug,info',
  env: { NODE_EXTRA_CA_CERTS: '/etc/ssl/ca.crt', FLAG: 'true' },
  minReadySeconds: 7,
  workloadLabels: { team: 'workloads', owner: 'x' },
  workloadAnnotations: { 'reloader.example.com/auto': 'true' },
  podLabels: { team: 'pods' },
  podAnnotations: { note: 'a "quoted" <text> with a \\ and {{ braces }}' },
} as const;
const spread = [
  { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
  {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: 'x' } },
  },
] as const;

/** Between them they say everything that can be said, each time otherwise than by default. */
export const EVERYTHING: Readonly<Record<string, Given>> = {
  'a CA of the operator’s own, at times by cron': {
    createCrd: false,
    createPriorityClasses: false,
    crdAnnotations: { 'argocd.argoproj.io/sync-options': 'Prune=false' },
    tolerateCordons: true,
    clusterDomain: 'k8s.example.com',
    scrapePods: true,
    scrapeServices: false,
    image: {
      registry: 'mirror.example.com:5000',
      repository: 'team/brupop',
      tag: '010',
      pullPolicy: 'Always',
      pullSecrets: ['mirror', 'other'],
    },
    logging: { format: 'json', ansi: true, filter: 'debug' },
    labels: { team: 'platform', tier: '1' },
    annotations: { owner: 'platform', 'prometheus.io/port': '1' },
    agent: {
      ...workload,
      excludeFromLbWaitTimeInSec: 1_000_000,
      updateCheckIntervalInSec: 60,
      httpPort: 9001,
      interfaceV1: true,
      interfaceV1Resources: { requests: { memory: '100Mi' }, limits: { memory: '700Mi' } },
      updateStrategy: { type: 'RollingUpdate', maxUnavailable: 2 },
      apiSocket: '/run/other.sock',
      seLinuxType: 'control_t',
    },
    apiserver: {
      ...workload,
      serviceAnnotations: { 'prometheus.io/scrape': 'false', note: 'mine' },
      replicas: 2,
      topologySpreadConstraints: spread,
      hostNetwork: true,
      dnsPolicy: 'Default',
      internalPort: 9443,
      servicePort: 8443,
      httpPort: 9002,
      requireClientCertificate: true,
      drainTimeoutInSec: 0,
      volumeDetachTimeoutInSec: 7,
      skipWaitForDeleteTimeoutInSec: 8,
      drainPreflight: 'refuse',
      drainRefusalTimeoutInSec: 10,
      maxConcurrentEvictions: 9,
    },
    controller: {
      ...workload,
      replicas: 2,
      topologySpreadConstraints: spread,
      maxConcurrentUpdate: 600,
      readAhead: 4,
      maxFailedUpdate: 12_000_000,
      maxUnhealthy: 5,
      proofNodes: 3,
      minReleaseAgeInSec: 1_209_600,
      maxVersion: '1.62.0',
      checkJobs: true,
      checkObjects: [
        { apiGroups: ['apps', ''], resources: ['deployments'] },
        { apiGroups: ['example.com'], resources: ['shops'], resourceNames: ['main'] },
      ],
      prometheusUrl: 'http://prometheus.monitoring:9090/p:1/',
      schedule: { kind: 'cron', expression: '0 0 20 * * Fri *', timeZone: 'Europe/Berlin', windowFit: 'strict' },
      monitoringTimeInSec: 300,
      settleTimeInSec: 302,
      settleFails: true,
      monitoringTimeoutInSec: 301,
      agentTimeoutInSec: 302,
      nodeReturnTimeoutInSec: 303,
      notReadyHoldInSec: 304,
      cacheTimeoutInSec: 305,
      checkFailedAfterInSec: 306,
      arrivingTaint: 'example.com/joining',
      labelNodes: true,
      nodeAnnotations: true,
      nodeLifecycleConditions: 'written',
      otherOperators: 'ignore',
      httpPort: 9003,
    },
    certificates: {
      kind: 'self-signed',
      duration: '100h',
      renewBefore: '50h',
      keySize: 4096,
      dnsNames: ['brupop.example.com'],
      caDuration: '1000h0m0s',
      keyAlgorithm: 'RSA',
      wildcards: false,
      commonName: 'brupop',
      subject: {
        organizations: ['Example'],
        organizationalUnits: ['Platform'],
        countries: ['DE'],
        provinces: ['Berlin'],
        localities: ['Berlin'],
        streetAddresses: ['Hauptstrasse 1'],
        postalCodes: ['10115'],
        serialNumber: '1',
      },
      usages: [],
      secretTemplate: { labels: { copied: 'yes' }, annotations: { note: 'x' } },
    },
    repositories: [
      {
        metadata: 'https://mirror.example.com/metadata/{variant}/{arch}/',
        targets: 'https://mirror.example.com/targets/',
        rootSha512: 'a'.repeat(128),
      },
    ],
    cluster: 'eu-1',
    notifications: {
      targets: [
        { name: 'chat', secret: 'chat', format: 'slack', kinds: ['RolloutHalted'], policies: ['test'] },
        {
          name: 'pager',
          secret: 'pager',
          format: 'json',
          template: '{"text": "{{kind}} ${x}"}',
          port: 8443,
          caBundle: CA,
        },
        { name: 'bus', secret: 'bus', format: 'cloudevents', proxy: 'http://proxy.example.com:3128/' },
      ],
      silences: [
        { name: 'chat', secret: 'alertmanager' },
        {
          name: 'far',
          secret: 'far',
          matchers: [{ name: 'instance', value: '{{node}}:.*', isRegex: true }],
          durationInSec: 86_400,
          proxy: 'https://[fd00::1]',
          port: 1,
        },
      ],
    },
    policies: [
      { name: 'test', nodeSelector: { matchLabels: { stage: 'test' } }, maxConcurrent: '50%' },
      {
        name: 'production',
        nodeSelector: {},
        after: ['test'],
        windows: [{ start: '0 22 * * MON-THU', duration: '8h', timeZone: 'Europe/Berlin' }],
        windowFit: 'off',
        preferUpdated: true,
        freezes: [{ from: '2026-12-18T00:00:00Z', to: '2027-01-04T00:00:00Z', reason: 'code freeze' }],
        proof: { nodes: 600, soak: '24h' },
      },
    ],
    networkPolicies: {
      enabled: true,
      kubernetesApiPorts: [8443],
      kubernetesApiCidrs: ['10.0.0.0/24', '10.1.0.0/24'],
      metricsNamespace: 'monitoring',
    },
    monitors: { enabled: true, interval: '5s', namespace: 'monitoring', labels: { release: 'prometheus' } },
    alerts: { enabled: true, namespace: 'monitoring', labels: { release: 'prometheus' } },
    dashboard: { enabled: true, namespace: 'grafana', labels: { dashboards: 'yes' } },
    peopleRoles: { enabled: true },
  },
  'an issuer of the user’s, in a daily window': {
    image: { digest: `sha256:${'0a'.repeat(32)}` },
    agent: { updateStrategy: { type: 'OnDelete' } },
    apiserver: { hostNetwork: true, serviceAnnotations: { 'prometheus.io/port': '1' } },
    controller: {
      serviceAnnotations: { team: 'platform' },
      schedule: { kind: 'window', start: '22:00:00', stop: '04:00:00', windowFit: 'strict' },
    },
    certificates: {
      kind: 'issuer',
      name: 'company',
      group: 'awspca.cert-manager.io',
      issuerKind: 'AWSPCAClusterIssuer',
      keyAlgorithm: 'ECDSA',
    },
  },
  'ready-made certificates': {
    apiserver: { requireClientCertificate: true },
    certificates: { kind: 'secret', serverSecret: 'server-tls', caSecret: 'agent-tls', caBundle: CA },
  },
};
