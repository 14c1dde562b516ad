import { afterEach, expect, test } from '@jest/globals';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { type Manager, routesOf } from '../../runtime/controller/manager.ts';
import { setback } from '../../runtime/controller/telling/events.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { CONTROLLER_LEASE, EVENTS_REFUSED_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { fleet, moment, rebooting } from './plan/fleet.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

/** `kind name: reason: message` of each Event, in order. */
async function told(): Promise<readonly string[]> {
  return (await stage.told()).map(
    ({ involvedObject: { kind, name }, reason, message }) => `${kind} ${name}: ${reason}: ${message}`,
  );
}
const aboutFleet = async (): Promise<readonly string[]> =>
  (await told()).filter((line) => line.startsWith(`Lease ${CONTROLLER_LEASE}: `)).map((line) => line.split(': ')[1]!);

test('a finished update is told with its duration, which the shadow keeps', async () => {
  stage = await Stage.with('a');
  stage.start();
  await stage.pass(90_000);
  await stage.update('a');
  expect(await told()).toContain('BottlerocketShadow brs-a: UpdateFinished: the node runs 1.1.0, after 1 min 32 s');
  const { metadata } = (await stage.shadows.get('brs-a'))!;
  expect(metadata.annotations).toMatchObject({ 'brupop.bottlerocket.aws/last-update-seconds': '92' });
});

test('a finished update leaves on the shadow for how long its node was away', async () => {
  stage = await Stage.with('a');
  stage.start();
  await stage.pass();
  await stage.askForReboot('a');
  await stage.pass(13_000);
  await stage.patchNode('a', {
    metadata: { annotations: { [MARKS_ANNOTATION]: null } },
    spec: { unschedulable: null },
  });
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0', reboot: null });
  await stage.pass();
  await stage.report('a', { current_state: 'MonitoringUpdate' });
  await stage.pass(60_000);
  expect((await stage.shadows.get('brs-a'))!.metadata.annotations).toMatchObject({
    'brupop.bottlerocket.aws/last-reboot-seconds': '13',
  });
});

test('an update whose status somebody has removed is told and counted as one that failed', async () => {
  stage = await Stage.with('a', 'b');
  const controller = stage.start();
  await stage.pass();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
  await stage.pass();
  expect(await stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
  await stage.shadows.patchStatus('brs-a', { status: null });
  await stage.pass();
  expect((await told()).filter((line) => line.startsWith('BottlerocketShadow brs-a: UpdateF'))).toEqual([
    'BottlerocketShadow brs-a: UpdateFailed: update to 1.1.0 ended: the status of the shadow was removed',
  ]);
  const { body } = await routesOf(controller)['/metrics']!();
  expect(body).toContain('brupop_controller_updates_total{result="succeeded"} 0');
  expect(body).toContain('brupop_controller_updates_total{result="failed"} 1');
});

test('an agent that does not come back from a later update either is another occasion, though its node stayed Ready', () => {
  const occasion = (step: number): unknown => {
    const { nodes, shadows } = fleet({ a: { spec: { ...rebooting.spec, state_transition_timestamp: moment(step) } } });
    const verdict = { node: 'a', reason: 'NotReturned', message: '' } as const;
    return setback({ verdict, node: nodes[0]!, shadow: shadows[0]! }, NAMESPACE).occasion;
  };
  expect(occasion(-40)).toBe(occasion(-40));
  expect(occasion(-40)).not.toBe(occasion(-9000));
});

test.each([
  ['as a leader begins', true],
  ['in the midst of its term', false],
])('a list of permits that somebody has overwritten is told, once an hour: %s', async (_when, isBefore) => {
  stage = await Stage.with('a', 'b');
  const write = (permits: string | null): Promise<unknown> => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${CONTROLLER_LEASE}`;
    return stage.patch(path, { metadata: { annotations: { [PERMITS_ANNOTATION]: permits } } });
  };
  const first = new AbortController();
  const former = stage.start({ signal: first.signal });
  await stage.pass();
  if (isBefore) first.abort();
  await stage.pass(5000);
  await write('none');
  const controller = isBefore ? stage.start() : former;
  await stage.report('a', { current_state: 'ErrorReset', crash_count: 1 });
  await stage.pass(60_000);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass(1_800_000);
  const unreadable = async (): Promise<number> =>
    (await aboutFleet()).filter((reason) => reason === 'SlotsUnreadable').length;
  expect(await unreadable()).toBe(1);
  const shown = async (): Promise<string> => (await routesOf(controller)['/metrics']!()).body;
  expect(await shown()).toContain('brupop_controller_slots_unreadable 1');
  await write(null);
  await stage.pass(120_000);
  expect(await shown()).toContain('brupop_controller_slots_unreadable 0');
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

test('Events that are refused are told on the Lease, since when and in whose words, until one is taken', async () => {
  stage = await Stage.with('a');
  const refusal = { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'exceeded quota: events' } as const;
  const over = stage.cluster.disturb({ resource: 'events' }, refusal);
  stage.start();
  await stage.pass(10_000);
  const said = async () =>
    (await stage.leases.get(CONTROLLER_LEASE))?.metadata.annotations?.[EVENTS_REFUSED_ANNOTATION];
  expect(await said()).toMatch(/^since 2026-01-01T00:00:\d\dZ: 403 Forbidden: exceeded quota: events$/);
  over();
  await stage.report('a', { current_state: 'ErrorReset', crash_count: 1 });
  await stage.pass(60_000);
  expect(await said()).toBeUndefined();
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

test('a policy that may leave no load balancer target is warned of', async () => {
  stage = await Stage.with('a', 'b');
  stage.start({ env: { MAX_CONCURRENT_UPDATE: 'unlimited', EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: '30' } });
  await stage.pass();
  expect(await aboutFleet()).toEqual(['NoLoadBalancerTarget']);
});

const setbacks = async (): Promise<readonly string[]> =>
  (await stage.events()).filter((reason) => ['NotReturned', 'ProgressDeadlineExceeded'].includes(reason));
const counted = async (controller: Manager, reason: string): Promise<string | undefined> => {
  const { body } = await routesOf(controller)['/metrics']!();
  return new RegExp(`^brupop_controller_setbacks_total{reason="${reason}"} (.*)$`, 'm').exec(body)?.[1];
};

test.each([
  ['that keeps conditions, and counts it once', () => Stage.with('a', 'b'), '0'],
  ['of an older installation, where each process counts it', () => Stage.upstream('a', 'b'), '1'],
])('a node that does not return is told once, by whichever process, on a CRD %s', async (_crd, build, again) => {
  stage = await build();
  const stop = new AbortController();
  const first = stage.start({ signal: stop.signal });
  await stage.pass();
  await stage.askForReboot('a');
  await stage.setReady('a', false);
  await stage.pass(890_000);
  expect([await setbacks(), await counted(first, 'NotReturned')]).toEqual([[], '0']);
  await stage.pass(120_000);
  expect([await setbacks(), await counted(first, 'NotReturned')]).toEqual([['NotReturned'], '1']);
  await stage.pass(600_000);
  stop.abort();
  await stage.pass(5000);
  const second = stage.start();
  await stage.pass(1_000_000);
  expect((await setbacks()).filter((reason) => reason === 'NotReturned')).toHaveLength(1);
  expect(await counted(second, 'NotReturned')).toBe(again);
});

test('a node that has left its version unasked is told of once, and not as a failed update', async () => {
  stage = await Stage.with('a', 'b');
  const stop = new AbortController();
  stage.start({ signal: stop.signal });
  await stage.pass();
  await stage.update('a');
  const time = rfc3339(stage.clock.now());
  await stage.report('a', {
    current_version: '1.0.0',
    crash_count: 1,
    failed_versions: ['1.1.0'],
    state_transition_failure_timestamp: time,
    last_failure: { state: 'Idle', reason: 'Reverted', message: 'nobody had asked for it', version: '1.1.0', time },
  });
  await stage.pass(5000);
  stop.abort();
  await stage.pass(5000);
  stage.start();
  await stage.pass(60_000);
  const warnings = (await stage.told()).filter(
    ({ type, involvedObject: { name } }) => type === 'Warning' && name === 'brs-a',
  );
  expect(warnings).toMatchObject([
    { reason: 'Reverted', message: 'nobody had asked for it', count: 1, involvedObject: { name: 'brs-a' } },
  ]);
});

test('a node that dies while it stages is told once, and gives its place to another in the end', async () => {
  stage = await Stage.with('a', 'b');
  const controller = stage.start();
  await stage.pass();
  await stage.setReady('a', false);
  await stage.loseAgent('a');
  await stage.pass(960_000);
  const reason = 'ProgressDeadlineExceeded';
  expect((await stage.shadows.get('brs-a'))!.status?.conditions).toMatchObject([
    { reason, message: expect.stringMatching(/not Ready since 2026-01-01T00:00:01Z/) },
  ]);
  await stage.pass(4 * 3_600_000);
  expect([await setbacks(), await counted(controller, reason), await stage.permits()]).toEqual([
    [reason],
    '1',
    ['brs-b'],
  ]);
});
