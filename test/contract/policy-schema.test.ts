import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_RELEASES } from '../../runtime/api/policy/model.ts';
import { POLICY_CRD_NAME, POLICY_KIND, POLICY_PLURAL, POLICY_VERSION } from '../../runtime/api/policy/names.ts';
import { exchange } from '../e2e/controlplane/exchange.ts';
import { find, manifests } from '../infra/manifests.ts';
import { faultsOf } from '../api/policy/policies.ts';
import { refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { CRDS } from './gadget.ts';

/** Of this file alone: others define the kind on the same API server, under its own group. */
const OWN_GROUP = 'schema.example.com';
const API_VERSION = `${OWN_GROUP}/${POLICY_VERSION}`;
const DEFINITION = `${POLICY_PLURAL}.${OWN_GROUP}`;
const POLICIES = `/apis/${API_VERSION}/${POLICY_PLURAL}`;

const policy = (spec: unknown, name = 'p'): object => ({
  apiVersion: API_VERSION,
  kind: POLICY_KIND,
  metadata: { name },
  spec,
});

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
  const { spec, ...rest } = find(manifests(), 'CustomResourceDefinition', POLICY_CRD_NAME);
  const own = { ...rest, metadata: { name: DEFINITION }, spec: { ...(spec as object), group: OWN_GROUP } };
  await cluster.admin.create(CRDS, own);
  await eventually(() => cluster.admin.create(POLICIES, policy({ nodeSelector: {} }), { dryRun: 'All' }));
});
afterAll(async () => {
  await cluster.admin.delete(`${CRDS}/${DEFINITION}`);
  await cluster.stop();
});

const dryRun = { dryRun: 'All', fieldValidation: 'Strict' };

const EVERYTHING = {
  nodeSelector: {
    matchLabels: { 'example.com/pool': 'db', 'kubernetes.io/arch': '' },
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['b'] },
      { key: 'a', operator: 'DoesNotExist' },
      { key: 'a', operator: 'Exists', values: [] },
    ],
  },
  priority: 10,
  paused: true,
  maxConcurrent: '25%',
  maxFailed: 'unlimited',
  pauseBetween: '1h30m',
  minInterval: '336h',
  completeWithin: '24h',
  zones: { key: 'topology.kubernetes.io/zone', atOnce: 'unlimited' },
  windows: [{ start: '0 2 * * MON-FRI', duration: '4h', timeZone: 'Europe/Berlin' }],
  windowFit: 'off',
  freezes: [
    { from: '2026-12-18T00:00:00+01:00', to: '2027-01-04T00:00:00Z', reason: 'code freeze', exceptExpedited: true },
  ],
  version: { minAge: '336h', max: '1.62.0', ignoreWaves: true },
  proof: {
    nodes: 3,
    soak: '24h',
    per: 'a.io/type',
    widen: 2,
    compare: 'fail',
    checks: [{ name: 'smoke', job: 'smoke-test', timeout: '5m', retries: 1 }],
  },
  checks: {
    before: [{ name: 'errors', query: 'sum(up)', above: 0.5, below: 9, unknown: 'Pass' }],
    after: [
      {
        name: 'shop',
        condition: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'main', type: 'Available' },
      },
    ],
  },
  after: ['test', { external: 'staging-eu' }],
  approval: 'Required',
  onFailure: 'Rollback',
  capacity: 'wait',
  preferUpdated: true,
  unwell: [{ condition: 'NetworkUnavailable' }, { condition: 'StorageReady', status: 'False' }, { taint: 'a.io/b' }],
  nodeSoak: '5m',
  drain: { waitFor: { matchLabels: { app: 'batch' } }, upTo: '6h', honorDoNotDisrupt: true },
  settle: '0s',
  settleFails: true,
};

describe('the schema of a policy takes', () => {
  test.each([
    [{ nodeSelector: {} }],
    [EVERYTHING],
    [{ ...EVERYTHING, maxConcurrent: 600, maxFailed: 1, zones: { atOnce: 1 }, windows: [], proof: { nodes: '5%' } }],
    [{ nodeSelector: {}, windowFit: false }],
    [{ nodeSelector: {}, unwell: [{ condition: 'A', taint: null, status: null }] }],
    [{ nodeSelector: {}, version: { exact: '1.62.0-rc.1+abc', max: null } }],
    [{ nodeSelector: {}, version: { max: 'latest', exact: null, minAge: null, ignoreWaves: null } }],
    [
      {
        nodeSelector: { matchLabels: null, matchExpressions: null },
        priority: null,
        paused: null,
        maxConcurrent: null,
        maxFailed: null,
        pauseBetween: null,
        minInterval: null,
        completeWithin: null,
        zones: null,
        windows: null,
        freezes: null,
        version: null,
        proof: { nodes: null, soak: null, per: null, widen: null, compare: null, checks: null },
        checks: { before: null, after: null },
        after: null,
        unwell: null,
        nodeSoak: null,
        drain: null,
        settle: null,
        settleFails: null,
      },
    ],
  ])('%j, which is read as it is meant', async (spec) => {
    const made = await cluster.admin.create(POLICIES, policy(spec), dryRun);
    expect(faultsOf(made['spec'])).toEqual([]);
  });

  test('a null for a field that is not there, also where the schema has no null', async () => {
    const matchExpressions = [{ key: 'a', operator: 'Exists', values: null }];
    const { spec } = await cluster.admin.create(
      POLICIES,
      policy({ nodeSelector: { matchExpressions }, windowFit: null }),
      dryRun,
    );
    const selector = { matchExpressions: [{ key: 'a', operator: 'Exists' }] };
    expect(spec).toEqual({ nodeSelector: selector, priority: 0, paused: false });
  });

  test('priority and pause for granted, so that kubectl shows them', async () => {
    const { spec } = await cluster.admin.create(POLICIES, policy({ nodeSelector: {} }), dryRun);
    expect(spec).toEqual({ nodeSelector: {}, priority: 0, paused: false });
  });
});

test('a label without a value is kept and is a fault of the policy: without it more nodes would be selected', async () => {
  const spec = { nodeSelector: { matchLabels: { a: null } } };
  const made = await cluster.admin.create(POLICIES, policy(spec), dryRun);
  expect(faultsOf(made['spec'])).toEqual([expect.stringContaining('spec.nodeSelector.matchLabels.a')]);
});

describe('the schema of a policy refuses', () => {
  const requirement = (one: object): object => ({ nodeSelector: { matchExpressions: [one] } });
  test.each<[object, string]>([
    [{}, 'spec.nodeSelector'],
    [requirement({ key: 'a', operator: 'Is', values: ['b'] }), 'spec.nodeSelector.matchExpressions[0].operator'],
    [requirement({ key: 'a', operator: 'In' }), 'spec.nodeSelector.matchExpressions[0]'],
    [requirement({ key: 'a', operator: 'In', values: null }), 'spec.nodeSelector.matchExpressions[0]'],
    [requirement({ key: 'a', operator: 'NotIn', values: [] }), 'spec.nodeSelector.matchExpressions[0]'],
    [requirement({ key: 'a', operator: 'Exists', values: ['b'] }), 'spec.nodeSelector.matchExpressions[0]'],
    [{ nodeSelector: { matchLabels: { a: 'b c' } } }, 'spec.nodeSelector.matchLabels.a'],
    [{ priority: 1.5 }, 'spec.priority'],
    [{ maxConcurrent: 0 }, 'spec.maxConcurrent'],
    [{ maxConcurrent: 601 }, 'spec.maxConcurrent'],
    [{ maxConcurrent: '601' }, 'spec.maxConcurrent'],
    [{ maxConcurrent: '101%' }, 'spec.maxConcurrent'],
    [{ maxFailed: true }, 'spec.maxFailed'],
    [{ proof: { nodes: 'unlimited' } }, 'spec.proof.nodes'],
    [{ proof: { compare: 'halt' } }, 'spec.proof.compare'],
    [{ zones: { atOnce: '10%' } }, 'spec.zones.atOnce'],
    [{ pauseBetween: '1d' }, 'spec.pauseBetween'],
    [{ windows: [{ start: '0 2 * *', duration: '1h' }] }, 'spec.windows[0].start'],
    [{ windows: [{ start: '0 2 * * *' }] }, 'spec.windows[0].duration'],
    [{ windowFit: true }, 'spec.windowFit'],
    [{ windowFit: 'on' }, 'spec.windowFit'],
    [{ windowFit: { off: true } }, 'spec.windowFit'],
    [{ freezes: [{ from: 'Christmas', to: '2027-01-04T00:00:00Z' }] }, 'spec.freezes[0].from'],
    [{ version: { exact: 'v1.62.0' } }, 'spec.version.exact'],
    [{ version: { exact: 'latest' } }, 'spec.version.exact'],
    [{ version: { max: '1.62' } }, 'spec.version.max'],
    [{ version: { minAge: '14d' } }, 'spec.version.minAge'],
    [{ version: { exact: '1.62.0', max: '1.63.0' } }, 'spec.version'],
    [{ unwell: [{}] }, 'spec.unwell[0]'],
    [{ unwell: [{ condition: 'A', status: 'Unknown' }] }, 'spec.unwell[0].status'],
    [{ proof: { checks: [{ name: 'a' }] } }, 'spec.proof.checks[0]'],
    [{ proof: { checks: [{ name: 'a', query: 'up' }] } }, 'spec.proof.checks[0]'],
    [{ checks: { before: [{ name: 'a', job: 'b', retries: 21 }] } }, 'spec.checks.before[0].retries'],
    [{ after: ['Test'] }, 'spec.after[0]'],
    [{ after: [{ policy: 'test' }] }, 'spec.after[0]'],
    [{ approval: 'Yes' }, 'spec.approval'],
    [{ onFailure: 'Retry' }, 'spec.onFailure'],
    [{ capacity: 'refuse' }, 'spec.capacity'],
    [{ preferUpdated: 'yes' }, 'spec.preferUpdated'],
    [{ after: Array.from({ length: 17 }, (_, index) => `p${index}`) }, 'spec.after'],
  ])('%j, and so does who reads it', async (given, where) => {
    const spec = Object.keys(given).length === 0 ? given : { nodeSelector: {}, ...given };
    const { code, details } = await refusal(cluster.admin.create(POLICIES, policy(spec), { dryRun: 'All' }));
    // Of what may be one of two, the real API server names the part that is nearest to either.
    const fields = details?.causes?.flatMap(({ field = '' }) => (field.startsWith(where) ? [where] : []));
    expect([code, fields]).toEqual([422, expect.arrayContaining([where])]);
    expect(faultsOf(spec)).toEqual([expect.stringContaining(where)]);
  });

  test.each<[object, string]>([
    [{ unwell: [{ condition: 'A', taint: 'b' }] }, 'spec.unwell[0]'],
    [{ checks: { after: [{ name: 'a', job: 'b', query: 'up', above: 1 }] } }, 'spec.checks.after[0]'],
  ])('what is two kinds at once, though it does not say where: %j', async (given, where) => {
    const spec = { nodeSelector: {}, ...given };
    const refused = refusal(cluster.admin.create(POLICIES, policy(spec), { dryRun: 'All' }));
    expect(await refused).toMatchObject({ code: 422, message: expect.stringContaining('(oneOf)') });
    expect(faultsOf(spec)).toEqual([expect.stringContaining(where)]);
  });

  test('a field that it does not know, where validation is strict', async () => {
    const spec = { nodeSelector: {}, budget: 1 };
    expect(await refusal(cluster.admin.create(POLICIES, policy(spec), dryRun))).toMatchObject({
      code: 400,
      message: expect.stringContaining('unknown field "spec.budget"'),
    });
  });
});

test('its status is written apart, and kubectl shows at a glance how it goes', async () => {
  await cluster.admin.create(POLICIES, policy({ nodeSelector: {}, priority: 5 }, 'glance'));
  const at = '2026-11-22T12:00:00Z';
  const condition = (type: string, status: string, reason: string): object => ({
    type,
    status,
    reason,
    message: 'so it is',
    lastTransitionTime: at,
    observedGeneration: 1,
  });
  const status = {
    observedGeneration: 1,
    nodes: { selected: 9, upToDate: 4, updating: 2, waiting: 2, failed: 1 },
    releases: [{ family: 'aws-k8s-1.33/x86_64', version: '1.39.0', firstOfferedAt: at, failed: 1 }],
    nextChangeAt: at,
    conditions: [
      condition('Accepted', 'True', 'Valid'),
      condition('Progressing', 'True', 'Updating'),
      condition('Halted', 'False', 'WithinBudget'),
    ],
  };
  const written = await cluster.admin.patch(`${POLICIES}/glance/status`, { status });
  expect(written).toMatchObject({ status, metadata: { generation: 1 } });
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
  const table = JSON.parse((await exchange(cluster.access, { path: `${POLICIES}/glance`, headers })).text) as {
    readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
    readonly rows: readonly { readonly cells: readonly unknown[] }[];
  };
  const shown = table.columnDefinitions.flatMap(({ name, priority }, index) =>
    priority === 0 ? [`${name} ${String(table.rows[0]?.cells[index])}`] : [],
  );
  expect(shown).toEqual([
    'Name glance',
    'Priority 5',
    'Accepted True',
    'Nodes 9',
    'Up-To-Date 4',
    'Updating 2',
    'Failed 1',
    'Paused false',
    'Halted False',
    'Progressing Updating',
    expect.stringMatching(/^Age \d+/),
  ]);
  const releases = Array.from({ length: MAX_RELEASES + 1 }, (_, index) => ({ family: 'f', version: `1.${index}.0` }));
  const most = { status: { releases: releases.slice(0, MAX_RELEASES) } };
  expect(await cluster.admin.patch(`${POLICIES}/glance/status`, most)).toMatchObject(most);
  const tooMany = cluster.admin.patch(`${POLICIES}/glance/status`, { status: { releases } });
  expect(await refusal(tooMany)).toMatchObject({ code: 422 });
});
