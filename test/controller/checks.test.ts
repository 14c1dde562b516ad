import { afterEach, describe, expect, test } from '@jest/globals';
import { POLICIES_PATH, releasesOf } from '../../runtime/api/resources.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import { clear, ledgerOf } from '../../runtime/api/release/ledger.ts';
import { HOUR_MS, rfc3339 } from '../../runtime/lib/clock.ts';
import { mergePatch } from '../../runtime/lib/json.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { type Checked, envOf, type Given, MINUTE, RELEASE, SMOKE, verdictOn, withPolicy } from './checked.ts';
import type { Stage } from './stage.ts';
import { intercepted, stopping } from './transports.ts';

let world: Checked;
afterEach(() => world.stage.end());

const PROOF = { proof: { nodes: 1, checks: [SMOKE] } };

/** Up to where a node runs the release, and the check of that is asked. */
async function upToCheck(given: Partial<Given> = {}, controller: Parameters<Stage['start']>[0] = {}): Promise<Manager> {
  world = await withPolicy({ spec: PROOF, ...given });
  const started = world.stage.start(controller);
  await world.stage.pass(10_000);
  await world.stage.update('a');
  await world.stage.pass(15_000);
  return started;
}

const writesChecks = ({ method, body }: KubeRequest): boolean =>
  method === 'PATCH' && JSON.stringify(body).includes('"smoke"');
const makesJob = ({ method, path }: KubeRequest): boolean => method === 'POST' && path.endsWith('/jobs');

describe('a release, before it is proven', () => {
  test('is asked for by a Job that knows what it is about', async () => {
    await upToCheck();
    const all = await world.made();
    expect(all).toMatchObject([
      {
        metadata: {
          ownerReferences: [{ kind: 'CronJob', name: 'smoke-test' }],
          labels: { 'brupop.bottlerocket.aws/check': 'smoke' },
        },
        spec: { backoffLimit: 0, ttlSecondsAfterFinished: 86_400 },
      },
    ]);
    expect(all.flatMap(({ metadata }) => metadata.ownerReferences).map((owner) => owner?.controller)).toEqual([
      undefined,
    ]);
    const names = 'BRUPOP_VERSION=1.1.0 BRUPOP_VARIANT=aws-k8s-1.33 BRUPOP_ARCH=amd64 BRUPOP_POLICY=all BRUPOP_NODES=a';
    expect(envOf(all)).toBe(`BRUPOP_CHECK=smoke ${names}`);
  });

  test('is asked for by a Job that stays for an hour, however soon its template would have it gone', async () => {
    await upToCheck({ ttl: 0 });
    expect(await world.made()).toMatchObject([{ spec: { ttlSecondsAfterFinished: 3600 } }]);
  });

  test('waits for it, and is proven once it is complete', async () => {
    const controller = await upToCheck();
    expect(verdictOn(controller, 'b')).toMatchObject({
      reason: 'Unproven',
      message: expect.stringContaining('check smoke'),
    });
    expect((await world.underAll())?.provenAt).toBeUndefined();
    await world.end('Complete');
    expect((await world.underAll())?.provenAt).toEqual(expect.any(String));
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Passed' }]);
    expect(await world.stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
    expect(await world.made()).toHaveLength(1);
    expect(await world.stage.events()).toContain('CheckPassed');
  });

  test('is halted there by one that fails, until a person clears it and it passes', async () => {
    const controller = await upToCheck();
    await world.end('Failed', 'the shop is closed');
    expect(await world.checks()).toMatchObject([
      { result: 'Failed', message: expect.stringContaining('the shop is closed') },
    ]);
    expect(await world.failed()).toEqual(['check smoke CheckFailed']);
    expect(verdictOn(controller, 'b')?.reason).toBe('RolloutHalted');
    expect(await world.stage.events()).toEqual(expect.arrayContaining(['CheckFailed', 'RolloutHalted']));
    await world.stage.pass(20 * MINUTE);
    expect(await world.stage.spec('b')).toBe('Idle');
    expect(await world.made()).toHaveLength(1);
    const before = ledgerOf(await world.release());
    const after = clear(before, Object.keys(before.failures), { at: rfc3339(world.stage.clock.now()), by: 'me' });
    await releasesOf(world.stage.transport).patchStatus(RELEASE, { status: mergePatch({ ...before }, { ...after }) });
    await world.stage.pass(30_000);
    expect(await world.made()).toHaveLength(2);
    await world.end('Complete');
    expect(await world.failed()).toEqual([]);
    expect(await world.stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
  });

  test('is halted no longer once the policy asks otherwise', async () => {
    await upToCheck();
    await world.end('Failed');
    await world.stage.patch(`${POLICIES_PATH}/all`, { spec: { proof: { checks: [{ ...SMOKE, retries: 1 }] } } });
    await world.stage.pass(30_000);
    expect([await world.made(), await world.failed()]).toMatchObject([{ length: 2 }, []]);
    await world.end('Complete');
    expect(await world.stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
  });

  test('is not held to have failed by the check of a policy that is no more', async () => {
    await upToCheck();
    await world.end('Failed');
    expect(await world.failed()).toEqual(['check smoke CheckFailed']);
    await world.stage.delete(`${POLICIES_PATH}/all`);
    await world.stage.pass(60_000);
    expect(await world.failed()).toEqual([]);
  });

  test('has a try more where the policy has retries', async () => {
    await upToCheck({ spec: { proof: { nodes: 1, checks: [{ ...SMOKE, retries: 1 }] } } });
    await world.end('Failed');
    expect(await world.made()).toHaveLength(1);
    await world.stage.pass(30_000);
    expect(await world.made()).toHaveLength(2);
    await world.end('Complete');
    expect(await world.checks()).toMatchObject([{ tries: 2, result: 'Passed' }]);
  });

  test('is halted by a Job that does not end in time', async () => {
    await upToCheck();
    expect((await world.made())[0]?.spec?.activeDeadlineSeconds).toBeLessThanOrEqual(600);
    await world.stage.pass(9 * MINUTE);
    expect(await world.failed()).toEqual([]);
    await world.stage.pass(2 * MINUTE);
    expect(await world.checks()).toMatchObject([{ result: 'Failed', message: 'it was not done in time' }]);
  });

  test.each([
    ['is missing', { cronJob: 'other' }, 'there is no CronJob smoke-test'],
    ['is not suspended', { suspend: false }, 'the CronJob smoke-test is not suspended'],
  ])('waits until the timeout where the CronJob %s', async (_, given, message) => {
    await upToCheck(given);
    expect([await world.made(), await world.checks()]).toEqual([[], [{ tries: 1, result: undefined, message }]]);
    await world.stage.pass(11 * MINUTE);
    expect(await world.checks()).toMatchObject([{ result: 'Failed', message }]);
  });

  test.each([
    ['Fail', 'Failed'],
    ['Pass', 'Passed'],
  ])('takes what nobody can say for an answer where the policy says so: %s', async (unknown, result) => {
    await upToCheck({ cronJob: 'other', spec: { proof: { nodes: 1, checks: [{ ...SMOKE, unknown }] } } });
    expect(await world.checks()).toMatchObject([{ result }]);
  });

  test('is decided by its Job, though the API server had no answer once', async () => {
    let isAway = false;
    const away = { code: 503, reason: 'ServiceUnavailable' };
    world = await withPolicy({ spec: { proof: { nodes: 1, checks: [{ ...SMOKE, unknown: 'Pass' }] } } });
    const transport = intercepted(world.stage.transport, ({ method, path }, go) =>
      isAway && method === 'GET' && path.includes('/jobs/') ? Promise.reject(apiStatusError('GET', away)) : go(),
    );
    world.stage.start({ transport });
    await world.stage.pass(10_000);
    await world.stage.update('a');
    await world.stage.pass(15_000);
    isAway = true;
    await world.stage.pass(20_000);
    isAway = false;
    await world.end('Failed');
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Failed' }]);
  });

  test('takes the word of the policy where the API server has no answer until its time is over', async () => {
    world = await withPolicy({ spec: { proof: { nodes: 1, checks: [{ ...SMOKE, unknown: 'Pass' }] } } });
    const away = { code: 503, reason: 'ServiceUnavailable' };
    const transport = intercepted(world.stage.transport, ({ path }, go) =>
      path.includes('/jobs/') ? Promise.reject(apiStatusError('GET', away)) : go(),
    );
    world.stage.start({ transport });
    await world.stage.pass(10_000);
    await world.stage.update('a');
    await world.stage.pass(9 * MINUTE);
    expect(await world.checks()).toMatchObject([{ tries: 1, result: undefined }]);
    await world.stage.pass(2 * MINUTE);
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Passed' }]);
  });

  test('is asked for by another Job where somebody has deleted the first before it ended', async () => {
    await upToCheck();
    const [job] = await world.made();
    await world.stage.delete(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs/${job?.metadata.name}`);
    expect(await world.made()).toEqual([]);
    await world.stage.pass(10_000);
    expect(await world.made()).toHaveLength(1);
    await world.end('Complete');
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Passed' }]);
  });

  test('is asked for by nobody where it is what nodes ran from the beginning', async () => {
    world = await withPolicy({ spec: PROOF });
    world.stage.start();
    await world.stage.pass(60_000);
    expect(await world.made()).toEqual([]);
  });

  test('has one Job where its leader is killed before it has the answer', async () => {
    const first = new AbortController();
    await upToCheck({}, { signal: first.signal });
    first.abort();
    await world.end('Complete');
    world.stage.start();
    await world.stage.pass(60_000);
    expect(await world.made()).toHaveLength(1);
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Passed' }]);
  });

  test('has passed where its Job is complete, though no leader was there until its time was over', async () => {
    const first = new AbortController();
    await upToCheck({}, { signal: first.signal });
    first.abort();
    await world.stage.pass(MINUTE);
    await world.end('Complete');
    await world.stage.pass(11 * MINUTE);
    world.stage.start();
    await world.stage.pass(60_000);
    expect(await world.made()).toHaveLength(1);
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Passed' }]);
  });

  test('is asked at once where the clock of the leader before was ahead', async () => {
    const first = new AbortController();
    const held = stopping(makesJob, () => world.stage.transport);
    await upToCheck({}, { signal: first.signal, transport: held.transport });
    first.abort();
    const { smoke } = (await world.underAll())?.checks ?? {};
    const ahead = { ...smoke, since: rfc3339(world.stage.clock.now() + HOUR_MS) };
    await releasesOf(world.stage.transport).patchStatus(RELEASE, {
      status: { policies: { all: { checks: { smoke: ahead } } } },
    });
    world.stage.start();
    await world.stage.pass(60_000);
    held.goOn();
    expect(await world.made()).toHaveLength(1);
    await world.end('Complete');
    expect(await world.checks()).toMatchObject([{ tries: 1, result: 'Passed' }]);
  });

  test('is asked by nobody before the ledger says so', async () => {
    const held = stopping(writesChecks, () => world.stage.transport);
    await upToCheck({}, { transport: held.transport });
    await world.stage.pass(60_000);
    expect([held.isStopped(), await world.made()]).toEqual([true, []]);
    held.goOn();
  });

  test('has one Job where its leader is killed right before it makes it, and goes on later', async () => {
    const first = new AbortController();
    const late = stopping(makesJob, () => world.stage.transport);
    await upToCheck({}, { signal: first.signal, transport: late.transport });
    expect([late.isStopped(), await world.made()]).toEqual([true, []]);
    first.abort();
    world.stage.start();
    await world.stage.pass(60_000);
    expect(await world.made()).toHaveLength(1);
    late.goOn();
    await world.stage.pass(10_000);
    expect(await world.made()).toHaveLength(1);
  });
});
