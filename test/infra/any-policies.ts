import * as fc from 'fast-check';
import type { UpdatePolicyProps } from '../../infra/props/policies.ts';

const word = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);
const key = fc.oneof(word, fc.constantFrom('topology.kubernetes.io/zone', 'example.com/Team_A'));
const value = fc.oneof(word, fc.constantFrom('', 'A.b_c-1'));
const percent = fc.integer({ min: 1, max: 100 }).map((share) => `${share}%`);
const countTo = (most: number) => fc.oneof(fc.integer({ min: 1, max: most }), percent);
const limitTo = (most: number) => fc.oneof(countTo(most), fc.constantFrom('unlimited', 'Unlimited', '3'));
const duration = fc.constantFrom('0s', '90s', '45m', '1h30m', '99999h', '1h1h');

const selector = fc.record(
  {
    matchLabels: fc.dictionary(key, value, { maxKeys: 3 }),
    matchExpressions: fc.array(
      fc.oneof(
        fc.record({
          key,
          operator: fc.constantFrom('In' as const, 'NotIn' as const),
          values: fc.array(value, { minLength: 1, maxLength: 3 }),
        }),
        fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);

const moment = fc.integer({ min: 0, max: 4_000_000_000 });
const freeze = fc
  .tuple(moment, fc.integer({ min: 1, max: 10_000_000 }), fc.constantFrom('', 'code freeze'))
  .map(([from, seconds, reason]) => ({
    from: new Date(from * 1000).toISOString(),
    to: new Date((from + seconds) * 1000).toISOString().replace('Z', '+00:00'),
    reason,
  }));

const window = fc.record(
  {
    start: fc.constantFrom('0 2 * * *', '*/15 22-23 1,15 jan-mar MON-FRI', '0  0 ? * 7', '5/20 * * * *'),
    duration: duration.filter((text) => text !== '0s'),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'),
  },
  { requiredKeys: ['start', 'duration'] },
);

const asked = fc.oneof(
  fc.record({ job: word }),
  fc.record({
    query: fc.constantFrom('up', 'sum(rate(a{b="c"}[5m]))'),
    below: fc.double({ min: -9, max: 9, noNaN: true }),
  }),
  fc.record({
    condition: fc.record({
      apiVersion: fc.constantFrom('v1', 'apps/v1'),
      kind: fc.constant('Node'),
      name: word,
      type: fc.constant('Ready'),
    }),
  }),
);
const terms = fc.record(
  {
    name: word,
    timeout: duration.filter((text) => text !== '0s'),
    retries: fc.integer({ min: 0, max: 20 }),
    unknown: fc.constantFrom('Wait' as const, 'Fail' as const, 'Pass' as const),
  },
  { requiredKeys: ['name'] },
);
const checks = fc.uniqueArray(
  fc.tuple(terms, asked).map(([term, what]) => Object.assign({}, term, what)),
  { maxLength: 3, selector: ({ name }) => name },
);

/** Props of a policy that a user may well write, every one of them valid by itself. */
export const anyPolicy: fc.Arbitrary<UpdatePolicyProps> = fc
  .record(
    {
      name: word,
      nodeSelector: selector,
      priority: fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
      paused: fc.boolean(),
      maxConcurrent: limitTo(600),
      maxFailed: limitTo(999_999_999),
      pauseBetween: duration,
      minInterval: duration,
      completeWithin: duration,
      zones: fc.record(
        { key, atOnce: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.constant('unlimited' as const)) },
        { requiredKeys: [] },
      ),
      windows: fc.array(window, { maxLength: 3 }),
      windowFit: fc.constantFrom('off' as const, 'strict' as const),
      preferUpdated: fc.boolean(),
      freezes: fc.array(freeze, { maxLength: 3 }),
      version: fc.oneof(
        fc.record({ minAge: duration, max: fc.constantFrom('1.62.0', 'latest') }, { requiredKeys: [] }),
        fc.record({ exact: fc.constantFrom('1.62.0', '2.0.0-rc.1'), ignoreWaves: fc.boolean() }),
      ),
      unwell: fc.array(
        fc.oneof(
          fc.record({ condition: key, status: fc.constantFrom('True' as const, 'False' as const) }),
          fc.record({ taint: key }),
        ),
        { maxLength: 2 },
      ),
      proof: fc.record(
        { nodes: countTo(600), soak: duration, per: key, widen: fc.integer({ min: 1, max: 100 }), checks },
        { requiredKeys: [] },
      ),
      checks: fc.record({ before: checks, after: checks }, { requiredKeys: [] }),
      after: fc.uniqueArray(word, { maxLength: 3 }),
      nodeSoak: duration,
      drain: fc.record({ waitFor: selector, upTo: fc.constantFrom('6h', '90m') }, { requiredKeys: ['waitFor'] }),
      settle: duration,
      settleFails: fc.boolean(),
    },
    { requiredKeys: ['name', 'nodeSelector'] },
  )
  .filter(({ name, after = [] }) => !after.includes(name));

/** A few of them that go together in one app. */
export const anyPolicies = fc.uniqueArray(anyPolicy, { maxLength: 3, selector: ({ name }) => name }).map((policies) =>
  policies.map(({ after, ...policy }, index) => ({
    ...policy,
    ...(after && { after: policies.slice(0, Math.min(index, after.length)).map(({ name }) => name) }),
  })),
);
