import * as fc from 'fast-check';

const seconds = fc.nat({ max: 999_999_999 });
const port = fc.integer({ min: 1024, max: 65535 });
const amount = fc.oneof(
  fc.integer({ min: 1, max: 999 }),
  fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
  fc.constantFrom('unlimited', 'Unlimited'),
);
const word = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);
const labels = fc.dictionary(word, word, { maxKeys: 3 });
const partial = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });

const time = fc.nat({ max: 86_399 }).map((at) => new Date(at * 1000).toISOString().slice(11, 19));
const schedule = fc.oneof(
  fc.constantFrom('* * * * * * *', '0 0 20 * * Fri *').map((expression) => ({ kind: 'cron' as const, expression })),
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
    caBundle: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  })),
);
const pods = { podLabels: labels, podAnnotations: labels, nodeSelector: labels };

/** Props that a user may well write, every one of them valid. */
export const anyProps = partial({
  namespace: word,
  createNamespace: fc.boolean(),
  labels,
  annotations: labels,
  image: partial({ repository: word, tag: fc.constantFrom('v1', '1.2.3-rc.1') }),
  agent: partial({ ...pods, excludeFromLbWaitTimeInSec: seconds, httpPort: port }),
  apiserver: partial({
    ...pods,
    replicas: fc.integer({ min: 1, max: 9 }),
    drainTimeoutInSec: seconds,
    internalPort: port,
  }).filter(({ internalPort }) => internalPort !== 8080),
  controller: partial({
    ...pods,
    maxConcurrentUpdate: amount,
    maxFailedUpdate: amount,
    schedule,
    monitoringTimeInSec: seconds,
  }),
  certificates,
  networkPolicies: partial({ enabled: fc.boolean() }),
});
