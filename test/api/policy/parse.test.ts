import { describe, expect, test } from '@jest/globals';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import { faultsOf, read, VARIABLES } from './policies.ts';

test('an omitted field, and one that is null, takes the value of the variables', () => {
  const variables: UpdatePolicy = {
    ...VARIABLES,
    maxConcurrent: { kind: 'percent', percent: 20 },
    mustFit: true,
    version: { minAgeMs: 60_000, max: '1.62.0', exact: undefined, ignoreWaves: false },
    proof: { nodes: { kind: 'count', count: 3 }, soakMs: 0 },
    soakMs: 60_000,
  };
  const expected = { ...variables, name: 'production', priority: 0 };
  expect(read({ nodeSelector: {} }, variables)).toEqual(expected);
  const nulls = {
    maxConcurrent: null,
    windows: null,
    windowFit: null,
    freezes: null,
    zones: { key: null },
    version: { minAge: null, max: null, exact: null, ignoreWaves: null },
    proof: null,
  };
  expect(read({ nodeSelector: { matchLabels: null }, priority: null, paused: null, ...nulls }, variables)).toEqual(
    expected,
  );
});

const CHECK = { timeoutMs: 600_000, retries: 0, unknown: 'Wait', says: expect.stringMatching(/^[0-9a-f]{8}$/) };

test('every field is read', () => {
  expect(
    read({
      nodeSelector: { matchExpressions: [{ key: 'example.com/pool', operator: 'In', values: ['db'] }] },
      priority: -5,
      paused: true,
      maxConcurrent: '25%',
      maxFailed: 'unlimited',
      pauseBetween: '1h30m',
      minInterval: '336h',
      completeWithin: '24h',
      zones: { atOnce: 1 },
      windows: [{ start: '0 2 * * MON-FRI', duration: '4h', timeZone: 'Europe/Berlin' }],
      windowFit: 'strict',
      freezes: [
        { from: '2026-12-18T00:00:00+01:00', to: '2027-01-04T00:00:00Z', reason: 'code freeze', exceptExpedited: true },
      ],
      version: { minAge: '336h', exact: '1.62.0', ignoreWaves: true },
      proof: {
        nodes: '5%',
        soak: '24h',
        per: 'a.io/type',
        widen: 2,
        compare: 'fail',
        checks: [{ name: 'smoke', job: 'smoke-test', retries: 2 }],
      },
      checks: {
        before: [{ name: 'errors', query: 'up', above: 0, timeout: '30s', unknown: 'Fail' }],
        after: [{ name: 'disk', condition: { apiVersion: 'v1', kind: 'Node', name: '{{nodes}}', type: 'Ready' } }],
      },
      after: ['test', { external: 'staging-eu' }],
      approval: 'Required',
      onFailure: 'Rollback',
      capacity: 'wait',
      unwell: [{ condition: 'Bad' }, { condition: 'StorageReady', status: 'False' }, { taint: 'a.io/b' }],
      preferUpdated: true,
      nodeSoak: '5m',
      drain: { waitFor: { matchLabels: { app: 'batch' } }, upTo: '6h', honorDoNotDisrupt: true },
      settle: '10m',
      settleFails: true,
    }),
  ).toEqual({
    name: 'production',
    selector: { matchExpressions: [{ key: 'example.com/pool', operator: 'In', values: ['db'] }] },
    priority: -5,
    paused: true,
    maxConcurrent: { kind: 'percent', percent: 25 },
    maxFailed: { kind: 'unlimited' },
    pauseBetweenMs: 5_400_000,
    minIntervalMs: 1_209_600_000,
    completeWithinMs: 86_400_000,
    zones: { key: 'topology.kubernetes.io/zone', atOnce: 1 },
    windows: [{ start: '0 2 * * MON-FRI', durationMs: 14_400_000, timeZone: 'Europe/Berlin' }],
    mustFit: true,
    freezes: [
      {
        from: Date.parse('2026-12-17T23:00:00Z'),
        to: Date.parse('2027-01-04T00:00:00Z'),
        reason: 'code freeze',
        exceptExpedited: true,
      },
    ],
    version: { minAgeMs: 1_209_600_000, max: undefined, exact: '1.62.0', ignoreWaves: true },
    proof: { nodes: { kind: 'percent', percent: 5 }, soakMs: 86_400_000, per: 'a.io/type', widen: 2, failsWorse: true },
    checks: {
      proof: [{ ...CHECK, name: 'smoke', kind: 'job', cronJob: 'smoke-test', retries: 2 }],
      before: [
        {
          ...CHECK,
          name: 'errors',
          kind: 'query',
          query: 'up',
          above: 0,
          below: undefined,
          timeoutMs: 30_000,
          unknown: 'Fail',
        },
      ],
      after: [
        {
          ...CHECK,
          name: 'disk',
          kind: 'condition',
          apiVersion: 'v1',
          objectKind: 'Node',
          namespace: undefined,
          objectName: '{{nodes}}',
          type: 'Ready',
          status: 'True',
        },
      ],
    },
    after: ['test'],
    afterExternal: ['staging-eu'],
    needsApproval: true,
    rollsBack: true,
    waitsForRoom: true,
    unwell: [
      'Bad=True',
      'Bad=Unknown',
      'StorageReady=False',
      'StorageReady=Unknown',
      'taint a.io/b',
      'soft taint a.io/b',
    ],
    prefersUpdated: true,
    soakMs: 300_000,
    letFinish: { pods: { matchLabels: { app: 'batch' } }, doNotDisrupt: true, upToMs: 6 * 3_600_000 },
    settleMs: 600_000,
    settleFails: true,
  });
});

test('a bare `off` is false to kubectl, and no windows are not the same as none that are given', () => {
  const { mustFit, windows } = read(
    { nodeSelector: {}, windowFit: false, windows: [] },
    { ...VARIABLES, mustFit: true },
  ) as UpdatePolicy;
  expect([mustFit, windows]).toEqual([false, []]);
});

test('a version of its own takes the place of the highest one that the variables name', () => {
  const version = { minAgeMs: 60_000, max: '1.62.0', exact: undefined, ignoreWaves: false };
  const versionOf = (says: object): unknown =>
    (read({ nodeSelector: {}, version: says }, { ...VARIABLES, version }) as UpdatePolicy).version;
  expect(versionOf({ minAge: '0s' })).toEqual({ ...version, minAgeMs: 0 });
  expect(versionOf({ max: 'latest' })).toEqual({ ...version, max: undefined });
  expect(versionOf({ exact: '1.63.0' })).toEqual({ ...version, max: undefined, exact: '1.63.0' });
});

describe('a fault names its field, what was expected and what came', () => {
  test.each([
    [{}, 'spec.nodeSelector: expected a label selector ({} selects every node), got nothing'],
    [{ nodeSelector: null }, 'spec.nodeSelector: expected a label selector ({} selects every node), got nothing'],
    [
      { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Is', values: ['b'] }] } },
      'spec.nodeSelector.matchExpressions[0].operator: expected In, NotIn, Exists or DoesNotExist, got "Is"',
    ],
    [
      { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: null }] } },
      'spec.nodeSelector.matchExpressions[0].values: expected at least one value with In or NotIn, none with Exists or DoesNotExist, got nothing',
    ],
    [
      { nodeSelector: { matchLabels: { 'a b': 'c' } } },
      'spec.nodeSelector.matchLabels.a b: expected a label key such as example.com/pool, got "a b"',
    ],
    [
      { nodeSelector: { matchLabels: { a: null } } },
      'spec.nodeSelector.matchLabels.a: expected a label value (letters, digits, "-", "_" and ".", at most 63), got null',
    ],
    [{ nodeSelector: { matchNames: {} } }, 'spec.nodeSelector.matchNames: expected no such field'],
    [
      { maxConcurrent: 601 },
      'spec.maxConcurrent: expected a whole number from 1 to 600, a percentage or "unlimited", got 601',
    ],
    [
      { maxConcurrent: '0%' },
      'spec.maxConcurrent: expected a whole number from 1 to 600, a percentage or "unlimited", got "0%"',
    ],
    [
      { proof: { nodes: 'unlimited' } },
      'spec.proof.nodes: expected a whole number from 1 to 600 or a percentage, got "unlimited"',
    ],
    [{ zones: { atOnce: 0 } }, 'spec.zones.atOnce: expected a whole number from 1 to 600 or "unlimited", got 0'],
    [{ pauseBetween: '1d' }, 'spec.pauseBetween: expected a duration such as 90s, 45m or 1h30m, got "1d"'],
    [{ windows: [null] }, 'spec.windows[0]: expected an object, got null'],
    [
      { windows: [{ start: '0 0 30 2 *', duration: '1h' }] },
      'spec.windows[0].start: expected five cron fields that match at some time, minute to day of the week, got "0 0 30 2 *"',
    ],
    [
      { windows: [{ start: '0 0 2 * * * *', duration: '1h' }] },
      'spec.windows[0].start: expected five cron fields that match at some time, minute to day of the week, got "0 0 2 * * * *"',
    ],
    [
      { windows: [{ start: '0 2 * * *', duration: '0s' }] },
      'spec.windows[0].duration: expected a duration above 0s, got "0s"',
    ],
    [
      { windows: [{ start: '0 2 * * *', duration: '1h', timeZone: 'Europe/Bonn' }] },
      'spec.windows[0].timeZone: expected an IANA time zone like Europe/Berlin, got "Europe/Bonn"',
    ],
    [
      { freezes: [{ from: '2026-12-18T00:00:00Z', to: '2026-12-18T01:00:00+01:00' }] },
      'spec.freezes[0].to: expected a time after from, got "2026-12-18T01:00:00+01:00"',
    ],
    [
      { freezes: [{ from: '2026-12-18', to: '2027-01-04T00:00:00Z' }] },
      'spec.freezes[0].from: expected a time such as 2026-12-18T00:00:00Z, got "2026-12-18"',
    ],
    [
      { freezes: [{ from: '2026-12-18T00:00:00Z', to: '9999-12-31T23:59:59-01:00' }] },
      'spec.freezes[0].to: expected a time before the year 10000 in UTC, got "9999-12-31T23:59:59-01:00"',
    ],
    [{ after: ['a', 'b', 'a'] }, 'spec.after: expected each policy once, got ["a","b","a"]'],
    [
      { after: [{ external: 'a b' }] },
      'spec.after[0]: expected the name of a policy, or { external: NAME }, got {"external":"a b"}',
    ],
    [{ after: ['test', 'production'] }, 'spec.after[1]: expected another policy, got its own name'],
    [{ version: { exact: 'v1.62.0' } }, 'spec.version.exact: expected a version such as 1.62.0, got "v1.62.0"'],
    [{ version: { max: '1.62' } }, 'spec.version.max: expected a version such as 1.62.0, or latest, got "1.62"'],
    [
      { version: { exact: '1.62.0', max: 'latest' } },
      'spec.version: expected exact or max, not both, got {"exact":"1.62.0","max":"latest"}',
    ],
    [{ unwell: [{}] }, 'spec.unwell[0]: expected a condition, or a taint, got {}'],
    [{ unwell: [{ taint: 'a', status: 'True' }] }, 'spec.unwell[0].status: expected none with a taint, got "True"'],
    [
      { proof: { checks: [{ name: 'a' }] } },
      'spec.proof.checks[0]: expected one of job, query and condition, got {"name":"a"}',
    ],
    [
      { checks: { before: [{ name: 'a', query: 'up' }] } },
      'spec.checks.before[0]: expected above or below with a query, and with nothing else, got {"name":"a","query":"up"}',
    ],
    [
      { checks: { after: [{ name: 'a', job: 'b', timeout: '0s' }] } },
      'spec.checks.after[0].timeout: expected a duration above 0s, got "0s"',
    ],
    [
      { checks: { after: [{ name: 'a', job: 'b', unknown: 'Never' }] } },
      'spec.checks.after[0].unknown: expected Wait, Fail or Pass, got "Never"',
    ],
    [
      { proof: { checks: [{ name: 'a', query: 'up', above: '1' }] } },
      'spec.proof.checks[0].above: expected a number, got "1"',
    ],
    [{ windowFit: true }, 'spec.windowFit: expected one of off, strict, got true'],
    [{ budget: 1 }, 'spec.budget: expected no such field'],
    ['all', 'spec: expected an object, got "all"'],
  ])('%j', (spec, fault) => {
    const complete = typeof spec === 'object' && Object.keys(spec).length > 0 ? { nodeSelector: {}, ...spec } : spec;
    expect(faultsOf(complete)).toEqual([fault]);
  });

  test('all of them at once', () => {
    expect(faultsOf({ nodeSelector: {}, priority: 'high', paused: 'yes', maxFailed: -1 })).toHaveLength(3);
  });
});

describe('a policy with faults', () => {
  test('keeps its nodes, where its selector and its priority can be read', () => {
    const spec = { nodeSelector: { matchLabels: { pool: 'db' } }, priority: 7, paused: 'perhaps' };
    expect(read(spec)).toMatchObject({ name: 'production', selector: { matchLabels: { pool: 'db' } }, priority: 7 });
    expect(read({ ...spec, priority: null })).toMatchObject({ priority: 0 });
  });

  test('says where they cannot be read', () => {
    expect(read({ nodeSelector: { matchLabels: { pool: 1 } }, priority: 1.5 })).toMatchObject({
      selector: undefined,
      priority: undefined,
      faults: expect.arrayContaining([expect.stringContaining('spec.priority: expected a whole number')]),
    });
    expect(read(undefined)).toMatchObject({ selector: undefined, priority: 0 });
  });
});
