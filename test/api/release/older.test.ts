import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { releasesOf } from '../../../runtime/api/resources.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { CONTROLLER_LEASE, STAGE_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { PERMITS_ANNOTATION } from '../../../runtime/controller/permits/entries.ts';
import type { Spec, Status } from '../../../runtime/api/shadow/model.ts';
import { Stage } from '../../controller/stage.ts';

/** What is taken over from older parts of ours, which drop what they do not know. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
});
afterEach(() => stage.end());

const failures = async () =>
  Object.values((await releasesOf(stage.transport).get('1.1.0.aws-k8s-1.33.amd64'))?.status?.failures ?? {});
const hintOn = async (node: string) =>
  (await stage.shadows.get(`brs-${node}`))!.metadata.annotations?.[STAGE_ANNOTATION];

/** An older controller leads for a term: of each permit it keeps four fields. */
async function olderTerm(): Promise<void> {
  const lease = (await stage.leases.get(CONTROLLER_LEASE))!;
  const { annotations = {} } = lease.metadata;
  const permits = JSON.parse(annotations[PERMITS_ANNOTATION] ?? '[]') as Record<string, unknown>[];
  const kept = permits.map(({ shadow, nodeUid, starts, since }) => ({ shadow, nodeUid, starts, since }));
  const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  await stage.leases.update({
    ...lease,
    metadata: { ...lease.metadata, annotations: { ...annotations, [PERMITS_ANNOTATION]: JSON.stringify(kept) } },
    spec: { ...lease.spec, holderIdentity: '', leaseTransitions },
  });
}

describe('an update whose permit an older controller has held', () => {
  beforeEach(async () => {
    const term = new AbortController();
    stage.start({ signal: term.signal });
    await stage.pass();
    term.abort();
    await stage.pass(5000);
    await olderTerm();
    stage.start();
    await stage.pass(20_000);
  });

  test('goes on to its end, and the next node follows', async () => {
    expect(await stage.permits()).toEqual(['brs-a']);
    await stage.update('a');
    expect([await failures(), await stage.specs('a', 'b')]).toEqual([[], ['Idle', 'StagedAndPerformedUpdate 1.1.0']]);
  });

  test('is blamed on the version that spec names where it fails', async () => {
    await stage.askForReboot('a');
    const time = rfc3339(stage.clock.now());
    const last_failure = {
      state: 'RebootedIntoUpdate',
      reason: 'BootFailed',
      message: '',
      version: '1.1.0',
      time,
    } as const;
    await stage.report('a', { current_state: 'ErrorReset', crash_count: 1, failed_versions: ['1.1.0'], last_failure });
    await stage.pass(5000);
    expect([await failures(), await stage.spec('a')]).toMatchObject([
      [{ node: 'a', reason: 'BootFailed' }],
      'Idle 1.1.0',
    ]);
  });

  test('is blamed on it where its machine is given up after it was asked to reboot', async () => {
    await stage.askForReboot('a');
    await stage.pass();
    await stage.loseAgent('a');
    await stage.shadows.delete('brs-a', {});
    await stage.delete('/api/v1/nodes/a');
    await stage.pass(5000);
    expect([await failures(), await stage.permits()]).toMatchObject([[{ node: 'a', reason: 'Gone' }], ['brs-b']]);
  });
});

describe('what an older controller has left in each step, its permit of four fields on the Lease,', () => {
  const at = (state: Spec['state']): Spec => ({ state, version: '1.1.0', state_transition_timestamp: rfc3339(0) });
  const STAGED = 'StagedAndPerformedUpdate';
  const REBOOT = 'RebootedIntoUpdate';
  const MONITOR = 'MonitoringUpdate';
  const updated = { current_version: '1.1.0' };
  const failed = (reason: 'BootFailed' | 'DrainFailed', state: Spec['state']): Partial<Status> => ({
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: rfc3339(stage.clock.now()),
    ...(reason === 'BootFailed' && { failed_versions: ['1.1.0'] }),
    last_failure: { state, reason, message: 'no', version: '1.1.0', time: rfc3339(stage.clock.now()) },
  });

  async function leftBy(spec: Spec, status: Partial<Status>): Promise<void> {
    const { uid: nodeUid } = (await stage.nodes.get('a'))!.metadata;
    await stage.shadows.patch('brs-a', { spec });
    await stage.report('a', status);
    const lease = (await stage.leases.get(CONTROLLER_LEASE))!;
    const since = rfc3339(stage.clock.now());
    const annotations = { [PERMITS_ANNOTATION]: JSON.stringify([{ shadow: 'brs-a', nodeUid, starts: 1, since }]) };
    await stage.leases.update({ ...lease, metadata: { ...lease.metadata, annotations } });
    stage.start({ env: { MAX_FAILED_UPDATE: '1' } });
    await stage.pass(5000);
  }

  test.each<[string, Spec, Partial<Status>]>([
    ['just begun', at(STAGED), {}],
    ['staged', at(STAGED), { current_state: STAGED }],
    ['in its reboot', at(REBOOT), { current_state: STAGED }],
    ['rebooted', at(REBOOT), { current_state: REBOOT, ...updated }],
    ['about to be monitored', at(MONITOR), { current_state: REBOOT, ...updated }],
    ['monitored', at(MONITOR), { current_state: MONITOR, ...updated }],
    ['about to rest', at('Idle'), { current_state: MONITOR, ...updated }],
  ])('of a node that is %s, goes on to its end, and blames nobody', async (_, spec, status) => {
    await leftBy(spec, status);
    await stage.update('a');
    await stage.pass(20_000);
    expect([await failures(), await stage.permits(), await stage.spec('b')]).toEqual([
      [],
      ['brs-b'],
      `${STAGED} 1.1.0`,
    ]);
  });

  test.each([
    [
      'has not come up with it is entered, and halts it',
      'BootFailed',
      REBOOT,
      [{ node: 'a', reason: 'BootFailed' }],
      'Idle',
    ],
    ['failed in its drain is not entered, and others start', 'DrainFailed', REBOOT, [], `${STAGED} 1.1.0`],
  ] as const)('of a node that %s', async (_, reason, state, entered, others) => {
    await leftBy(at(state), failed(reason, state));
    expect([await failures(), await stage.spec('a')]).toMatchObject([entered, 'Idle 1.1.0']);
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(20_000);
    expect([await failures(), await stage.spec('b')]).toMatchObject([entered, others]);
    expect(await stage.permits()).toEqual(others === 'Idle' ? [] : ['brs-b']);
  });
});

test('a node with a hint whose agent is exchanged for an older one is updated as any other, and the hint goes', async () => {
  const staged = { version: null, boot_id: null };
  await stage.report('b', { staged });
  stage.start();
  await stage.pass();
  expect(await hintOn('b')).toContain('1.1.0');
  await stage.report('b', { staged: null });
  await stage.update('a');
  await stage.update('b');
  expect([await hintOn('b'), await stage.specs('a', 'b')]).toEqual([undefined, ['Idle', 'Idle']]);
});
