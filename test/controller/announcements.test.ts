import { afterEach, describe, expect, test } from '@jest/globals';
import { CONTROLLER_LEASE } from '../../runtime/shadow/names.ts';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { intercepted, Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

/** `kind name: reason: message` of each Event, in order. */
async function told(): Promise<readonly string[]> {
  const list = (await stage.transport.request({ method: 'GET', path: '/api/v1/events' })) as {
    items: { involvedObject: { kind: string; name: string }; reason: string; message: string }[];
  };
  return list.items.map(
    ({ involvedObject: { kind, name }, reason, message }) => `${kind} ${name}: ${reason}: ${message}`,
  );
}
const aboutFleet = async (): Promise<readonly string[]> =>
  (await told()).filter((line) => line.startsWith(`Lease ${CONTROLLER_LEASE}: `)).map((line) => line.split(': ')[1]!);

const TOLD_AGAIN = new Set(['NoLoadBalancerTarget', 'RolloutHalted', 'RolloutResumed']);

test('a finished update is told with its duration, which the shadow keeps', async () => {
  stage = await Stage.with('a');
  stage.start();
  await stage.pass(90_000);
  await stage.update('a');
  expect(await told()).toContain('BottlerocketShadow brs-a: UpdateFinished: the node runs 1.1.0, after 1 min 32 s');
  const { metadata } = (await stage.shadows.get('brs-a'))!;
  expect(metadata.annotations).toMatchObject({ 'brupop.bottlerocket.aws/last-update-seconds': '92' });
});

describe('of the fleet as a whole', () => {
  test('a halt and its end are told once each', async () => {
    stage = await Stage.with('a', 'b');
    stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
    await stage.pass();
    const failure = { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] } as const;
    await stage.report('a', { ...failure, failed_versions: ['1.1.0'], state_transition_failure_timestamp: null });
    await stage.pass(5000);
    expect(await aboutFleet()).toEqual(['RolloutHalted']);
    await stage.pass(60_000);
    await stage.report('a', { current_state: 'Idle', current_version: '1.1.0', failed_versions: null, crash_count: 0 });
    await stage.pass(5000);
    expect(await aboutFleet()).toEqual(['RolloutHalted', 'RolloutResumed']);
  });

  test('the end of an offer is no end of the halt, and is not told as one', async () => {
    stage = await Stage.with('a', 'b');
    stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
    await stage.pass();
    const failure = { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] } as const;
    await stage.report('a', { ...failure, failed_versions: ['1.1.0'] });
    await stage.pass(5000);
    for (const node of ['a', 'b']) await stage.report(node, { target_version: '1.0.0' });
    await stage.pass(5000);
    await stage.report('b', { target_version: '1.1.0' });
    await stage.pass(5000);
    expect(await aboutFleet()).toEqual(['RolloutHalted']);
    await stage.report('a', { failed_versions: null, crash_count: 0 });
    await stage.pass(5000);
    expect(await aboutFleet()).toEqual(['RolloutHalted', 'RolloutResumed']);
  });

  test('what the cluster does not take is told with a later plan: a halt, its end, a warning', async () => {
    stage = await Stage.with('a', 'b');
    const refused: string[] = [];
    const transport = intercepted(stage.transport, ({ body }, go) => {
      const { reason } = (body ?? {}) as { reason?: string };
      if (reason === undefined || !TOLD_AGAIN.has(reason) || refused.includes(reason)) return go();
      refused.push(reason);
      // Plans go on meanwhile.
      return stage.clock.sleep(10_000).then(() => Promise.reject(new UnreachableError('out')));
    });
    const env = { MAX_FAILED_UPDATE: '1', MAX_CONCURRENT_UPDATE: '2', EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: '30' };
    stage.start({ transport, env });
    await stage.pass(61_000);
    const failure = { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'] } as const;
    await stage.report('a', { ...failure, failed_versions: ['1.1.0'], state_transition_failure_timestamp: null });
    await stage.pass(61_000);
    await stage.report('a', { current_state: 'Idle', current_version: '1.1.0', failed_versions: null, crash_count: 0 });
    await stage.pass(61_000);
    expect(refused).toEqual([...TOLD_AGAIN]);
    expect(await aboutFleet()).toEqual(refused);
  });

  test('a window that opens and closes is told, and what it was at the beginning is not', async () => {
    stage = await Stage.with('a', 'b');
    stage.start({ env: { SCHEDULER_CRON_EXPRESSION: '* 10-19 0 * * * *' } });
    await stage.pass(9 * 60_000);
    expect(await aboutFleet()).toEqual([]);
    await stage.pass(60_000);
    expect(await aboutFleet()).toEqual(['WindowOpened']);
    await stage.pass(600_000);
    expect(await aboutFleet()).toEqual(['WindowOpened', 'WindowClosed']);
  });

  test('the only node is warned of before its update starts', async () => {
    stage = await Stage.with('a');
    const order: string[] = [];
    const transport = intercepted(stage.transport, ({ body }, go) => {
      const { reason, spec } = (body ?? {}) as { reason?: string; spec?: { state?: string } };
      if (reason ?? spec?.state) order.push((reason ?? spec?.state)!);
      return go();
    });
    stage.start({ transport });
    await stage.pass();
    expect(order).toEqual(['OnlySchedulableNode', 'StagedAndPerformedUpdate', 'UpdateStarted']);
  });

  test('Events that are not answered delay no step of an update, and are told once they are', async () => {
    stage = await Stage.with('a');
    const end = stage.cluster.disturb({ resource: 'events' }, { kind: 'hang' });
    stage.start();
    await stage.pass();
    await stage.update('a');
    expect(await stage.specs('a')).toEqual(['Idle']);
    expect((await stage.shadows.get('brs-a'))!.metadata.annotations).toMatchObject({
      'brupop.bottlerocket.aws/last-update-seconds': '3',
    });
    end();
    await stage.pass(60_000);
    expect(await aboutFleet()).toContain('OnlySchedulableNode');
  });

  test('a warning that stands is not told once more while the cluster has not answered the first', async () => {
    stage = await Stage.with('a', 'b');
    const env = { MAX_CONCURRENT_UPDATE: '2', EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: '30' };
    const end = stage.cluster.disturb({ resource: 'events' }, { kind: 'hang' });
    stage.start({ env });
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.report('b', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    end();
    await stage.pass(60_000);
    expect(await aboutFleet()).toEqual(['NoLoadBalancerTarget']);
  });

  test('a policy that may leave no load balancer target is warned of', async () => {
    stage = await Stage.with('a', 'b');
    stage.start({ env: { MAX_CONCURRENT_UPDATE: 'unlimited', EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: '30' } });
    await stage.pass();
    expect(await aboutFleet()).toEqual(['NoLoadBalancerTarget']);
  });

  test('nothing is warned of where other nodes serve on', async () => {
    stage = await Stage.with('a', 'b');
    await stage.create('/api/v1/nodes', { metadata: { name: 'other' } });
    await stage.setReady('other', true);
    stage.start({ env: { MAX_CONCURRENT_UPDATE: 'unlimited', EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: '30' } });
    await stage.pass();
    expect(await aboutFleet()).toEqual([]);
  });
});
