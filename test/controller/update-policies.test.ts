import { afterEach, describe, expect, test } from '@jest/globals';
import type { Manager } from '../../runtime/controller/manager.ts';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import { POLICIES_PATH, policiesOf, RELEASES_PATH, releasesOf } from '../../runtime/api/resources.ts';
import { DAY_MS, instantOf, rfc3339 } from '../../runtime/lib/clock.ts';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../runtime/api/release/names.ts';
import type { PolicyStatus } from '../../runtime/api/policy/model.ts';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { Tapped } from '../kube/world.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

/** A schema that lets everything pass, as one may be that somebody else has written. */
const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const LAX = { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } };

async function withPolicies(
  nodes: readonly string[],
  policies: Readonly<Record<string, object>>,
  schema?: object,
): Promise<void> {
  stage = await Stage.with(...nodes);
  await definePolicies(stage, policies, schema);
  await stage.pass(30_000);
}
const statusOf = async (name: string): Promise<PolicyStatus> =>
  (await policiesOf(stage.transport).get(name))?.status ?? {};
const conditionOf = async (name: string, type: string) =>
  (await statusOf(name)).conditions?.find((condition) => condition.type === type);
const verdicts = (controller: Manager): readonly string[] =>
  controller.preview().verdicts.map(({ node, reason, policy }) => [node, reason, policy].filter(Boolean).join(' '));
/** Reasons of the Events about policies, with how often each happened. */
async function told(): Promise<readonly string[]> {
  return (await stage.told())
    .filter(({ involvedObject }) => involvedObject.kind === POLICY_KIND)
    .map(({ reason, count, involvedObject }) => `${involvedObject.name} ${reason} ${count}`);
}

test('where a release is proven per value of a label, each is told once, whoever leads', async () => {
  await withPolicies(['a', 'b', 'c'], { all: { nodeSelector: {}, proof: { nodes: 1, per: 'pool' } } });
  for (const [name, pool] of Object.entries({ a: 'x', b: 'y', c: 'y' }))
    await stage.patchNode(name, { metadata: { labels: { pool } } });
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass(40_000);
  const parts = async (): Promise<readonly string[]> =>
    (await stage.told()).flatMap(({ reason, message, count }) =>
      reason === 'ReleaseProven' && message.includes('where') ? `${message} ${count}` : [],
    );
  await stage.update('a');
  await stage.pass(10_000);
  expect(await parts()).toEqual([expect.stringMatching(/^1\.1\.0 .*is proven where pool is x 1$/)]);
  first.abort();
  await stage.pass(60_000);
  stage.start();
  await stage.pass(60_000);
  await stage.update('b');
  await stage.pass(10_000);
  expect((await parts()).map((one) => one.slice(-11))).toEqual(['pool is x 1', 'pool is y 1']);
});

test('a rollout is told, and stands in the status, once and for all: also after the process has ended, and where a node joins', async () => {
  await withPolicies(['a', 'b'], { all: { nodeSelector: {} } });
  const first = new AbortController();
  const env = { PROOF_NODES: '1' };
  stage.start({ signal: first.signal, env });
  await stage.pass(10_000);
  expect(await statusOf('all')).toMatchObject({
    observedGeneration: 1,
    nodes: { selected: 2, upToDate: 0, updating: 1, waiting: 1, failed: 0 },
  });
  await stage.update('a');
  await stage.pass(10_000);
  await stage.update('b');
  await stage.pass(10_000);
  const { releases, nodes } = await statusOf('all');
  expect(nodes).toMatchObject({ upToDate: 2, waiting: 0 });
  const release = releases?.find(({ version }) => version === '1.1.0');
  const [offered = NaN, proven = NaN, complete = NaN] = [
    release?.firstOfferedAt,
    release?.provenAt,
    release?.completedAt,
  ].map(instantOf);
  expect([offered < proven, proven < complete]).toEqual([true, true]);
  const events = ['all Accepted 1', 'all ReleaseProven 1', 'all RolloutComplete 1'];
  expect(await told()).toEqual(events);
  first.abort();
  await stage.pass(60_000);
  stage.start({ env });
  await stage.pass(60_000);
  await stage.join('c');
  await stage.pass(60_000);
  expect((await statusOf('all')).nodes).toMatchObject({ selected: 3, updating: 1 });
  expect((await statusOf('all')).releases).toContainEqual(release);
  expect(await told()).toEqual(events);
});

test('a halt is told of the policy whose nodes failed, and so is its end', async () => {
  await withPolicies(['a', 'b', 'c'], { all: { nodeSelector: {}, maxFailed: 1 } });
  const controller = stage.start();
  await stage.pass(10_000);
  await stage.report('a', {
    current_state: 'ErrorReset',
    crash_count: 1,
    failed_versions: ['1.1.0'],
    state_transition_failure_timestamp: new Date(stage.clock.now()).toISOString(),
  });
  await stage.pass(10_000);
  expect(await conditionOf('all', 'Halted')).toMatchObject({ status: 'True', reason: 'RolloutHalted' });
  const gauges = async (): Promise<readonly string[]> =>
    (await controller.metrics.registry.metrics()).split('\n').filter((line) => line.includes('policy="all"'));
  expect(await gauges()).toEqual(
    expect.arrayContaining([
      'brupop_controller_policy_nodes{policy="all",state="waiting"} 2',
      'brupop_controller_policy_halted_releases{policy="all"} 1',
      'brupop_controller_policy_accepted{policy="all"} 1',
    ]),
  );
  await stage.patch(`${RELEASES_PATH}/1.1.0.aws-k8s-1.33.amd64`, { spec: { decision: 'Allow' } });
  await stage.pass(10_000);
  expect(await conditionOf('all', 'Halted')).toMatchObject({ status: 'False' });
  expect(await told()).toEqual(['all Accepted 1', 'all RolloutHalted 1', 'all RolloutResumed 1']);
  await policiesOf(stage.transport).delete('all', {});
  await stage.pass();
  expect(await gauges()).toEqual([]);
});

test('a release that will miss its date is told, and no more once the policy has no date', async () => {
  await withPolicies(['a'], { all: { nodeSelector: {}, paused: true, completeWithin: '1m' } });
  const controller = stage.start();
  await stage.pass(10_000);
  expect(await conditionOf('all', 'WillMissDeadline')).toMatchObject({ status: 'False', reason: 'OnTime' });
  await stage.pass(120_000);
  expect(await conditionOf('all', 'WillMissDeadline')).toMatchObject({
    status: 'True',
    message: expect.stringMatching(/^1\.1\.0 on .* will be late by 1 h at least: .* goes to Paused$/),
  });
  const late = async () =>
    (await controller.metrics.registry.metrics()).match(/(?<=policy_)(will_miss|late_)\w+{policy="all".* \d+/g);
  expect(await late()).toEqual([
    'will_miss_deadline{policy="all"} 1',
    expect.stringMatching(/^late_seconds{policy="all",because="Paused"} [67]\d$/),
  ]);
  await stage.patch(`${POLICIES_PATH}/all`, { spec: { completeWithin: null } });
  await stage.pass(10_000);
  expect([await conditionOf('all', 'WillMissDeadline'), await late()]).toEqual([undefined, null]);
  expect(await told()).toEqual(['all Accepted 1', 'all WillMissDeadline 1', 'all OnTime 1']);
});

describe('a policy that cannot be obeyed says which field it is', () => {
  test.each<[string, object, string, string]>([
    ['whoever it rules', { nodeSelector: {}, after: ['bad'] }, 'spec.after[0]', 'a PolicyInvalid bad'],
    [
      'where nobody can say whom it rules',
      { nodeSelector: { matchExpressions: [{ key: 'pool', operator: 'In', values: [] }] } },
      'spec.nodeSelector',
      'a PolicyInvalid',
    ],
  ])('%s, and nothing starts there until it can', async (_what, spec, field, verdict) => {
    await withPolicies(['a'], { bad: spec }, LAX);
    const controller = stage.start();
    await stage.pass(10_000);
    expect(await conditionOf('bad', 'Accepted')).toMatchObject({
      status: 'False',
      message: expect.stringContaining(field),
    });
    expect([verdicts(controller), await stage.specs('a')]).toEqual([[verdict], ['Idle']]);
    await stage.patch(`${POLICIES_PATH}/bad`, { spec: { nodeSelector: { matchExpressions: null }, after: null } });
    await stage.pass(40_000);
    expect(await conditionOf('bad', 'Accepted')).toMatchObject({ status: 'True' });
    expect(await told()).toEqual(['bad NotAccepted 1', 'bad Accepted 1']);
    expect(await stage.specs('a')).toEqual(['StagedAndPerformedUpdate 1.1.0']);
  });
});

test('while the policies may not be read nothing starts, and what runs goes on; a role that allows it ends that', async () => {
  await withPolicies(['a', 'b'], {});
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass(10_000);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(10_000);
  expect(await stage.specs('a', 'b')).toEqual(['RebootedIntoUpdate 1.1.0', 'Idle']);
  first.abort();
  await stage.pass(60_000);
  const transport = new Tapped(stage.transport);
  transport.before = ({ path }) => {
    if (path === POLICIES_PATH) throw apiStatusError(`GET ${path}`, { code: 403, reason: 'Forbidden', message: 'no' });
  };
  const second = stage.start({ transport });
  await stage.pass(10_000);
  expect([second.ready, second.preview().leading]).toEqual([true, true]);
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
  await stage.pass(10_000);
  await stage.report('a', { current_state: 'MonitoringUpdate' });
  await stage.pass(10_000);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(60_000);
  expect(verdicts(second)).toEqual(['a UpToDate', 'b NotCurrent']);
  expect(await stage.specs('b')).toEqual(['Idle']);
  transport.before = () => undefined;
  await stage.pass(60_000);
  expect(await stage.specs('b')).toEqual(['StagedAndPerformedUpdate 1.1.0']);
});

test('a pause between updates ends also where each controller lives for less than that', async () => {
  await withPolicies(['a', 'b'], { all: { nodeSelector: {}, pauseBetween: '2h' } });
  const startedIn = async (minutesOfLife: number, meanwhile = async () => {}): Promise<boolean> => {
    const life = new AbortController();
    stage.start({ signal: life.signal, env: { PROOF_NODES: '1' } });
    await stage.pass(10_000);
    await meanwhile();
    await stage.pass(minutesOfLife * 60_000);
    life.abort();
    await stage.pass(10_000);
    return (await stage.spec('b')) !== 'Idle';
  };
  expect(await startedIn(1, () => stage.update('a'))).toBe(false);
  expect([await startedIn(50), await startedIn(50), await startedIn(50)]).toEqual([false, false, true]);
});

test('that a policy without nodes is passed over after seven days is told once, by whichever process', async () => {
  const policies = {
    test: { nodeSelector: { matchLabels: { pool: 'test' } } },
    all: { nodeSelector: {}, after: ['test'], priority: -1 },
  };
  await withPolicies(['a'], policies);
  const spec = { family: 'aws-k8s-1.33/amd64', version: '1.0.0' };
  const name = '1.0.0.aws-k8s-1.33.amd64';
  const body = { apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata: { name }, spec };
  await stage.create(RELEASES_PATH, body);
  const firstOfferedAt = rfc3339(stage.clock.now() - 7 * DAY_MS);
  await releasesOf(stage.transport).patchStatus(name, { status: { firstOfferedAt } });
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  first.abort();
  await stage.pass(5000);
  stage.start();
  await stage.pass(60_000);
  expect((await told()).filter((one) => one.includes('PassedOver'))).toEqual(['all PolicyPassedOver 1']);
});
