import * as fc from 'fast-check';
import { anyPolicies } from './any-policies.ts';
import { CA } from './pem.ts';

const seconds = fc.nat({ max: 999_999_999 });
const port = fc.integer({ min: 1024, max: 65535 });
const amountTo = (most: number) =>
  fc.oneof(
    fc.integer({ min: 1, max: most }),
    fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
    fc.constantFrom('unlimited', 'Unlimited'),
  );
const word = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);
const labels = fc.dictionary(word, word, { maxKeys: 3 });
const partial = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });

const time = fc.nat({ max: 86_399 }).map((at) => new Date(at * 1000).toISOString().slice(11, 19));
const schedule = fc.oneof(
  fc.record(
    {
      kind: fc.constant('cron' as const),
      expression: fc.constantFrom('* * * * * * *', '0 0 20 * * Fri *'),
      timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
      windowFit: fc.constantFrom('off' as const, 'strict' as const),
    },
    { requiredKeys: ['kind', 'expression'] },
  ),
  fc
    .uniqueArray(time, { minLength: 2, maxLength: 2 })
    .map(([start = '', stop = '']) => ({ kind: 'window' as const, start, stop })),
);
const certificates = fc.oneof(
  fc.constant({ kind: 'self-signed' as const }),
  word.map((name) => ({ kind: 'issuer' as const, name })),
  word.map((serverSecret) => ({
    kind: 'secret' as const,
    serverSecret,
    caBundle: CA,
  })),
);
const requests = partial({ cpu: fc.constantFrom('10m', '0.5'), memory: fc.constantFrom('64Mi', '100M') });
const limits = partial({ cpu: fc.constantFrom('500m', '2'), memory: fc.constantFrom('1Gi', '1G') });
const tolerations = fc.array(
  fc.oneof(
    fc.record({ operator: fc.constant('Exists' as const) }),
    fc.record({ key: word, value: word, effect: fc.constantFrom('NoSchedule' as const, 'NoExecute' as const) }),
  ),
  { maxLength: 2 },
);
const term = fc.record({ labelSelector: fc.record({ matchLabels: labels }), topologyKey: word });
const podAffinity = partial({
  requiredDuringSchedulingIgnoredDuringExecution: fc.array(term, { maxLength: 2 }),
  preferredDuringSchedulingIgnoredDuringExecution: fc.array(
    fc.record({ weight: fc.integer({ min: 1, max: 100 }), podAffinityTerm: term }),
    { maxLength: 2 },
  ),
});
const topologySpreadConstraints = fc.uniqueArray(
  fc.record({
    maxSkew: fc.integer({ min: 1, max: 3 }),
    topologyKey: word,
    whenUnsatisfiable: fc.constantFrom('DoNotSchedule' as const, 'ScheduleAnyway' as const),
  }),
  { maxLength: 2, selector: ({ topologyKey, whenUnsatisfiable }) => `${whenUnsatisfiable} ${topologyKey}` },
);
const pods = {
  priorityClassName: word,
  podAffinity,
  podAntiAffinity: podAffinity,
  logFilter: fc.constant('debug'),
  workloadLabels: labels,
  workloadAnnotations: labels,
  podLabels: labels,
  podAnnotations: labels,
  nodeSelector: labels,
  tolerations,
  resources: fc.record({ requests, limits }),
};

/** Props that a user may well write, every one of them valid. */
export const anyProps = partial({
  namespace: word,
  createNamespace: fc.boolean(),
  createCrd: fc.boolean(),
  createPriorityClasses: fc.boolean(),
  clusterDomain: word,
  instance: word,
  scrapePods: fc.boolean(),
  scrapeServices: fc.boolean(),
  labels,
  annotations: labels,
  image: partial({
    registry: fc.constantFrom('ghcr.io', 'mirror.example.com:5000'),
    repository: word,
    tag: fc.constantFrom('v1', '1.2.3-rc.1'),
    digest: fc.constant(`sha256:${'0a'.repeat(32)}`),
    pullPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never'),
    pullSecrets: fc.uniqueArray(word, { maxLength: 2 }),
  }),
  logging: partial({ format: fc.constantFrom('full', 'json'), ansi: fc.boolean(), filter: fc.constant('debug') }),
  agent: partial({
    ...pods,
    excludeFromLbWaitTimeInSec: seconds,
    updateCheckIntervalInSec: fc.integer({ min: 1, max: 86_400 }),
    httpPort: port,
  }),
  apiserver: partial({
    ...pods,
    topologySpreadConstraints,
    replicas: fc.integer({ min: 1, max: 9 }),
    drainTimeoutInSec: seconds,
    internalPort: port,
    servicePort: port,
    maxConcurrentEvictions: fc.integer({ min: 1, max: 50 }),
  }).filter(({ internalPort }) => internalPort !== 8080),
  controller: partial({
    ...pods,
    maxConcurrentUpdate: amountTo(600),
    readAhead: fc.oneof(amountTo(600), fc.constantFrom<string | number>(0, 'auto')),
    maxFailedUpdate: amountTo(999),
    maxUnhealthy: amountTo(999),
    proofNodes: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.constantFrom('5%', '100%')),
    minReleaseAgeInSec: seconds,
    maxVersion: fc.constantFrom('latest', '1.62.0'),
    schedule,
    replicas: fc.integer({ min: 1, max: 3 }),
    monitoringTimeInSec: seconds,
    arrivingTaint: fc.constantFrom('example.com/arriving', 'arriving'),
    labelNodes: fc.boolean(),
    settleTimeInSec: seconds,
    settleFails: fc.boolean(),
    monitoringTimeoutInSec: seconds,
    agentTimeoutInSec: seconds,
    nodeReturnTimeoutInSec: seconds,
    notReadyHoldInSec: seconds,
    cacheTimeoutInSec: fc.integer({ min: 15, max: 999_999_999 }),
    checkFailedAfterInSec: seconds,
    httpPort: port,
  }),
  certificates,
  policies: anyPolicies,
  k3os: partial({
    enabled: fc.boolean(),
    namespace: word,
    releasesUrl: fc.constantFrom('https://github.example.com/api/v3', 'http://[fd00::1]:8080'),
  }),
  notifications: partial({
    targets: fc.uniqueArray(
      fc.record(
        {
          name: word,
          secret: word,
          format: fc.constantFrom('cloudevents' as const, 'slack' as const),
          kinds: fc.constant(['RolloutHalted' as const]),
          policies: fc.uniqueArray(word, { minLength: 1, maxLength: 2 }),
          proxy: fc.constantFrom('http://proxy.example.com:3128', 'https://[fd00::1]'),
          caBundle: fc.constant(CA),
          port: fc.integer({ min: 1, max: 65_535 }),
        },
        { requiredKeys: ['name', 'secret', 'format'] },
      ),
      { maxLength: 2, selector: ({ name }) => name },
    ),
    silences: fc.uniqueArray(
      fc.record(
        { name: word, secret: word, durationInSec: fc.integer({ min: 60, max: 86_400 }) },
        { requiredKeys: ['name', 'secret'] },
      ),
      { maxLength: 2, selector: ({ name }) => name },
    ),
  }),
  networkPolicies: partial({
    enabled: fc.boolean(),
    kubernetesApiCidrs: fc.constant(['10.0.0.0/24']),
    metricsNamespace: word,
    kubernetesApiPorts: fc.array(port, { minLength: 1, maxLength: 2 }),
  }),
});
