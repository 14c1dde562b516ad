import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { releasesOf } from '../../../runtime/api/resources.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { CONTROLLER_LEASE, STAGE_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { PERMITS_ANNOTATION } from '../../../runtime/controller/permits/entries.ts';
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
    await stage.transport.request({ method: 'DELETE', path: '/api/v1/nodes/a' });
    await stage.pass(5000);
    expect([await failures(), await stage.permits()]).toMatchObject([[{ node: 'a', reason: 'Gone' }], ['brs-b']]);
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
