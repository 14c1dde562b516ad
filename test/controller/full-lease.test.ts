import { afterEach, describe, expect, test } from '@jest/globals';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { upToDate } from '../../runtime/controller/plan/condition.ts';
import { CONTROLLER_LEASE, NAMESPACE, PAUSED_ANNOTATION, shadowName } from '../../runtime/shadow/names.ts';
import { bytesOfSlot, leaseWithRoomFor } from './room.ts';
import { intercepted, Stage } from './stage.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;
const EVERYBODY = { MAX_CONCURRENT_UPDATE: 'unlimited' };
const STARTED = 'StagedAndPerformedUpdate 1.1.0';
const FULL = 'the list of slots on the Lease is full';

let stage: Stage;
afterEach(() => stage.end());

const pause = (value: '' | null) =>
  stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } });

const started = async (): Promise<readonly string[]> => {
  const specs = await stage.specs(...NAMES);
  return NAMES.filter((_, index) => specs[index] === STARTED);
};

const verdictOn = async (node: string) => upToDate((await stage.shadows.get(shadowName(node)))?.status ?? undefined);

describe('where the Lease has room for fewer slots than the concurrency allows', () => {
  test('as many updates start as it has room for, and the rest waits and says why', async () => {
    stage = await Stage.with(...NAMES);
    await leaseWithRoomFor(stage, 2);
    stage.start({ env: EVERYBODY });
    await stage.pass(5000);
    expect(await started()).toEqual(['a', 'b']);
    expect(await verdictOn('c')).toMatchObject({ reason: 'WaitingForSlot', message: FULL });
  });

  test('each update that is done makes room for the next, until all are', async () => {
    stage = await Stage.with(...NAMES);
    await leaseWithRoomFor(stage, 2);
    stage.start({ env: EVERYBODY });
    await stage.pass(5000);
    for (const name of NAMES) {
      expect(await stage.slots()).toContain(shadowName(name));
      await stage.update(name);
      expect((await stage.slots()).length).toBeLessThanOrEqual(2);
    }
    expect(await stage.slots()).toEqual([]);
  });

  test('a stand-by that takes over knows the room as well', async () => {
    stage = await Stage.with(...NAMES);
    await leaseWithRoomFor(stage, 2);
    const stop = new AbortController();
    stage.start({ env: EVERYBODY, signal: stop.signal });
    const standby = stage.start({ env: EVERYBODY });
    await stage.pass(5000);
    expect(standby.outlook().commands.filter(({ kind }) => kind === 'start')).toEqual([]);
    stop.abort();
    await stage.pass(20_000);
    await stage.update('a');
    expect(await started()).toEqual(['b', 'c']);
  });

  test('what somebody else writes there after the leader has looked keeps back only whom it leaves no room', async () => {
    stage = await Stage.with(...NAMES);
    await leaseWithRoomFor(stage, 4);
    await pause('');
    stage.start({ env: EVERYBODY });
    await stage.pass(5000);
    const lease = (await stage.leases.get(CONTROLLER_LEASE))!;
    const more = 'x'.repeat(2 * (await bytesOfSlot(stage, 'a')) - 'more'.length);
    const annotations = { ...lease.metadata.annotations, more };
    await stage.leases.update({ ...lease, metadata: { ...lease.metadata, annotations } });
    await pause(null);
    await stage.pass(5000);
    expect(await started()).toEqual(['a', 'b']);
    expect(await verdictOn('c')).toMatchObject({ reason: 'WaitingForSlot', message: FULL });
  });
});

/** An API server that takes no Lease with more than so many slots. */
const refusingMoreThan = (most: number): KubeTransport =>
  intercepted(stage.transport, (request, go) => {
    const { metadata } = (request.body ?? {}) as { metadata?: { annotations?: Record<string, string> } };
    const slots =
      Object.values(metadata?.annotations ?? {})
        .join()
        .split('nodeUid').length - 1;
    if (request.method !== 'PUT' || slots <= most) return go();
    return Promise.reject(apiStatusError('PUT', { code: 422, reason: 'Invalid', message: 'too many' }));
  });

describe('where the API server refuses the slots of all who could start', () => {
  test('those of fewer are taken, and the others follow as slots come back', async () => {
    stage = await Stage.with(...NAMES);
    stage.start({ env: EVERYBODY, transport: refusingMoreThan(3) });
    await stage.pass(60_000);
    expect(await started()).toEqual(['a', 'b', 'c']);
    await stage.update('a');
    await stage.pass(60_000);
    expect(await started()).toEqual(['b', 'c', 'd']);
  });
});
