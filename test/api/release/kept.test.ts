import { afterEach, describe, expect, test } from '@jest/globals';
import { KEEPER_ANNOTATION } from '../../../runtime/controller/permits/ledger.ts';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { RELEASES_PATH, releasesOf } from '../../../runtime/api/resources.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { ReleaseStatus } from '../../../runtime/api/release/model.ts';
import { RELEASE_API_VERSION, RELEASE_CRD_NAME, RELEASE_KIND } from '../../../runtime/api/release/names.ts';
import { CONTROLLER_LEASE } from '../../../runtime/api/shadow/names.ts';
import { definePolicies } from '../../policies.ts';
import { Stage } from '../../controller/stage.ts';
import { intercepted } from '../../controller/transports.ts';

const NAME = '1.1.0.aws-k8s-1.33.amd64';
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${RELEASE_CRD_NAME}`;

let stage: Stage;
afterEach(() => stage.end());

const statusOf = async (name = NAME): Promise<ReleaseStatus | null | undefined> =>
  (await releasesOf(stage.transport).get(name))?.status;
const remove = (path: string): Promise<unknown> => stage.delete(path);

/** As an agent says of a reboot that came back to the older version. */
const failed = (time: string) => ({
  crash_count: 1,
  state_transition_failure_timestamp: time,
  failed_versions: ['1.1.0'],
  last_failure: { state: 'RebootedIntoUpdate', reason: 'BootFailed', message: 'no', version: '1.1.0', time } as const,
});

describe('the ledger of a release', () => {
  test('says since when it is offered, and under which policies it is proven and complete', async () => {
    stage = await Stage.with('a', 'b');
    await definePolicies(stage, { all: { nodeSelector: {}, proof: { nodes: 1 } } });
    stage.start();
    await stage.pass();
    expect(await statusOf()).toMatchObject({ firstOfferedAt: rfc3339(stage.clock.now() - 1000), state: 'Proving' });
    await stage.update('a');
    expect(await statusOf()).toMatchObject({ state: 'Proven', policies: { all: { met: '1 for 0s' } } });
    await stage.pass();
    await stage.update('b');
    await stage.pass(10_000);
    const [provenAt, completedAt] = [expect.any(String), expect.any(String)];
    expect(await statusOf()).toMatchObject({ policies: { all: { provenAt, completedAt } } });
  });
});

describe('a failure that a new leader finds', () => {
  const begin = async (): Promise<void> => {
    stage = await Stage.with('a', 'b');
    await stage.report('a', failed(rfc3339(stage.clock.now())));
  };

  test('after an older controller is entered from the shadows, which the Lease then says', async () => {
    await begin();
    stage.start();
    await stage.pass();
    const { uid } = (await stage.nodes.get('a'))!.metadata;
    expect((await statusOf())?.failures).toMatchObject({ [uid]: { node: 'a', policy: '', reason: 'BootFailed' } });
    const { metadata, spec } = (await stage.leases.get(CONTROLLER_LEASE))!;
    expect(metadata.annotations?.[KEEPER_ANNOTATION]).toBe(`controller-1 ${spec?.leaseTransitions}`);
  });

  test('of a deleted ledger is not entered again, by this leader or the next', async () => {
    await begin();
    const first = new AbortController();
    stage.start({ signal: first.signal });
    await stage.pass();
    await remove(`${RELEASES_PATH}/${NAME}`);
    await stage.pass();
    expect(await statusOf()).toMatchObject({ failed: 0 });
    first.abort();
    await stage.pass(5000);
    stage.start();
    await stage.pass(20_000);
    expect(await statusOf()).toMatchObject({ failed: 0 });
  });

  test('after an older controller led in between is entered, unless a person has cleared it since', async () => {
    await begin();
    const first = new AbortController();
    stage.start({ signal: first.signal });
    await stage.pass();
    const { uid } = (await stage.nodes.get('a'))!.metadata;
    const { attempt = '' } = (await statusOf())?.failures?.[uid] ?? {};
    first.abort();
    await stage.pass(5000);
    const lease = (await stage.leases.get(CONTROLLER_LEASE))!;
    const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
    await stage.leases.update({ ...lease, spec: { ...lease.spec, holderIdentity: '', leaseTransitions } });
    const cleared = { [uid]: { attempt, at: rfc3339(stage.clock.now()) } };
    const status = { failures: { [uid]: null }, cleared };
    await releasesOf(stage.transport).patchStatus(NAME, { status });
    await stage.report('b', failed(rfc3339(stage.clock.now())));
    stage.start();
    await stage.pass(20_000);
    expect(Object.values((await statusOf())?.failures ?? {}).map(({ node }) => node)).toEqual(['b']);
  });
});

describe('nothing starts, and the verdict names what is missing', () => {
  test('where the cluster has no definition of releases', async () => {
    stage = await Stage.with('a');
    await remove(CRD);
    const manager = stage.start();
    await stage.pass(120_000);
    expect(await stage.spec('a')).toBe('Idle');
    const [verdict] = manager.preview().verdicts;
    expect(verdict).toMatchObject({ reason: 'NotCurrent', message: expect.stringContaining(RELEASE_CRD_NAME) });
  });

  test.each([
    ['create', ''],
    ['patch', 'status'],
  ])('where the controller may not %s %s', async (verb, subresource) => {
    stage = await Stage.with('a');
    const of = { resource: 'bottlerocketreleases', verbs: [verb], ...(subresource !== '' && { subresource }) };
    stage.cluster.disturb(of, { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'no' });
    const manager = stage.start();
    await stage.pass(120_000);
    expect(await stage.spec('a')).toBe('Idle');
    const [verdict] = manager.preview().verdicts;
    expect(verdict).toMatchObject({
      reason: 'WriteRefused',
      message: expect.stringContaining('its ledger is refused'),
    });
  });
});

test('a node whose failure no ledger takes comes to rest, and its permit keeps it for the next leader', async () => {
  stage = await Stage.with('a');
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass();
  await stage.askForReboot('a');
  const refuse = { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'no' } as const;
  const of = { resource: 'bottlerocketreleases', verbs: ['patch'], subresource: 'status' };
  const end = stage.cluster.disturb(of, refuse);
  await stage.report('a', { ...failed(rfc3339(stage.clock.now())), current_state: 'ErrorReset' });
  await stage.pass(5000);
  expect(await stage.spec('a')).toBe('Idle 1.1.0');
  await stage.report('a', { current_state: 'Idle', failed_versions: [], last_failure: null, reboot: null });
  await stage.pass(60_000);
  expect([await stage.permits(), (await statusOf())?.failures ?? {}]).toEqual([['brs-a'], {}]);
  first.abort();
  await stage.pass(5000);
  end();
  stage.start();
  await stage.pass(60_000);
  const { uid } = (await stage.nodes.get('a'))!.metadata;
  expect((await statusOf())?.failures).toMatchObject({ [uid]: { node: 'a', reason: 'BootFailed' } });
});

test('a machine that is given up soon after its update has failed on it, by the attempt that its shadow names', async () => {
  stage = await Stage.with('a', 'b');
  stage.start();
  await stage.pass();
  await stage.update('a');
  const { metadata } = (await stage.shadows.get('brs-a'))!;
  const attempt = metadata.annotations?.['brupop.bottlerocket.aws/last-attempt'];
  await stage.setReady('a', false);
  await stage.pass();
  const { uid } = (await stage.nodes.get('a'))!.metadata;
  await stage.shadows.delete('brs-a', {});
  await remove('/api/v1/nodes/a');
  await stage.pass(5000);
  expect(attempt).toBeDefined();
  expect((await statusOf())?.failures).toMatchObject({ [uid]: { node: 'a', attempt, reason: 'Gone' } });
});

test('a ledger that was written without an answer keeps no node waiting', async () => {
  stage = await Stage.with('a');
  let unanswered = 0;
  const transport = intercepted(stage.transport, async (request, go) => {
    const answer = await go();
    if (request.path !== `${RELEASES_PATH}/${NAME}/status` || unanswered > 0) return answer;
    unanswered += 1;
    throw new UnreachableError('no answer');
  });
  stage.start({ transport });
  await stage.pass(60_000);
  expect([unanswered, await stage.spec('a')]).toEqual([1, 'StagedAndPerformedUpdate 1.1.0']);
});

test('an object that a person has made keeps its name, and the controller makes its own', async () => {
  stage = await Stage.with('a');
  const spec = { family: '*', version: '1.1.0', decision: 'Halt' };
  await stage.create(RELEASES_PATH, {
    apiVersion: RELEASE_API_VERSION,
    kind: RELEASE_KIND,
    metadata: { name: 'bad' },
    spec,
  });
  stage.start();
  await stage.pass();
  expect(await statusOf('bad')).toBeUndefined();
  expect(await statusOf()).toMatchObject({ state: 'Halted' });
});
