import { describe, expect, test } from '@jest/globals';
import {
  type Lifecycle,
  LIFECYCLE_REASON,
  lifecycleChanges,
  lifecycleOf,
} from '../../runtime/controller/writing/lifecycle-conditions.ts';
import { phaseOf } from '../../runtime/controller/plan/facts/phase.ts';
import type { LifecycleCondition, NodeInfo, NodeView } from '../../runtime/controller/plan/facts/snapshot.ts';
import { readMarks } from '../../runtime/api/marks/marks.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { DRAINED, MARKS, minutes, moment, node, type Parts, shadow } from './plan/fleet.ts';

/** What Kubernetes' lifecycle conditions say of a node, by what permits, shadows and marks say. */

const PERMIT = { shadow: 'brs-a', nodeUid: 'uid-a', id: 'one', since: undefined, writes: 'settled' } as const;

function info(parts: Parts | undefined, more: Partial<NodeView> = {}, hasPermit = true): NodeInfo {
  const own = parts && shadow('a', parts);
  const permit = hasPermit ? PERMIT : undefined;
  const one = node('a', more);
  return { node: one, shadow: own, phase: phaseOf(own, one), isShadowUnowned: false, permit, silentSince: undefined };
}

const asked = (state: 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'MonitoringUpdate', parts: Parts = {}) => ({
  ...parts,
  spec: { state, version: '1.1.0' },
});

/** The types that are so, and those of which nobody knows with a question mark. */
const told = (lifecycle: Lifecycle | undefined): readonly string[] | undefined =>
  lifecycle &&
  Object.entries(lifecycle).flatMap(([type, { status }]) =>
    status === 'True' ? [type] : status === 'Unknown' ? [`${type}?`] : [],
  );

const staged = { status: { current_state: 'StagedAndPerformedUpdate' } } as const;
const edited = readMarks({
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', annotations: { [MARKS_ANNOTATION]: '{' } },
})!;

describe('of a node', () => {
  test.each<[string, NodeInfo, readonly string[] | undefined]>([
    ['that waits for its turn, nothing is so', info({}, {}, false), []],
    ['whose update prepares', info(asked('StagedAndPerformedUpdate')), ['MaintenancePlanned']],
    [
      'that is only out of load balancers',
      info(asked('RebootedIntoUpdate', staged), { marks: { ...MARKS, since: null } }),
      ['MaintenancePlanned'],
    ],
    [
      'that is drained',
      info(asked('RebootedIntoUpdate', staged), { marks: MARKS }),
      ['MaintenancePlanned', 'DrainInProgress'],
    ],
    [
      'whose drain is over',
      info(asked('RebootedIntoUpdate', staged), { marks: DRAINED }),
      ['MaintenancePlanned', 'Drained'],
    ],
    [
      'whose reboot was asked for',
      info(asked('RebootedIntoUpdate', { ...staged, rebootAskedAt: minutes(-1) }), { marks: DRAINED }),
      ['Drained', 'MaintenanceInProgress'],
    ],
    [
      'that is back in service and watched',
      info(asked('MonitoringUpdate', { status: { current_state: 'RebootedIntoUpdate' } })),
      [],
    ],
    [
      'whose update failed in its drain, though its marks are not released yet',
      info(asked('RebootedIntoUpdate', { status: { current_state: 'ErrorReset' } }), { marks: MARKS }),
      [],
    ],
    ['that bears marks of an update that is over', info({}, { marks: DRAINED }, false), []],
    [
      'whose marks somebody has edited',
      info(asked('RebootedIntoUpdate', staged), { marks: edited }),
      ['MaintenancePlanned', 'DrainInProgress?', 'Drained?'],
    ],
    ['without a shadow or a status', info(undefined), []],
    ['whose agent has said nothing yet', info({ ...asked('StagedAndPerformedUpdate'), status: null }), []],
    ['that is not managed, nothing is told', info({}, { managed: false }, false), undefined],
    [
      'that is managed no more, until its update is over',
      info(asked('StagedAndPerformedUpdate'), { managed: false }),
      ['MaintenancePlanned'],
    ],
  ])('%s', (_, given, expected) => {
    expect(told(lifecycleOf(given))).toEqual(expected);
  });
});

describe('what is written', () => {
  const NOW = moment(0);
  const DRAINING = lifecycleOf(info(asked('RebootedIntoUpdate', staged), { marks: MARKS }))!;
  const written = lifecycleChanges([], DRAINING, moment(-9)) as readonly LifecycleCondition[];
  const byType = (changes: readonly object[]) =>
    Object.fromEntries((changes as readonly LifecycleCondition[]).map(({ type, ...rest }) => [type, rest]));

  test('is all of it at first, and nothing again', () => {
    expect(written.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'MaintenancePlanned True',
      'DrainInProgress True',
      'Drained False',
      'MaintenanceInProgress False',
    ]);
    expect(new Set(written.map(({ reason }) => reason))).toEqual(new Set([LIFECYCLE_REASON]));
    expect(lifecycleChanges(written, DRAINING, NOW)).toEqual([]);
  });

  test('has a new time of transition where the status is another, and the old one where it is not', () => {
    const other = info(
      { ...asked('RebootedIntoUpdate', staged), spec: { state: 'RebootedIntoUpdate', version: '1.2.0' } },
      { marks: DRAINED },
    );
    const changes = byType(lifecycleChanges(written, lifecycleOf(other), NOW));
    expect(changes).toMatchObject({
      MaintenancePlanned: { status: 'True', message: 'update to 1.2.0', lastTransitionTime: moment(-9) },
      DrainInProgress: { status: 'False', lastTransitionTime: NOW },
      Drained: { status: 'True', lastTransitionTime: NOW },
    });
    expect(Object.keys(changes)).toHaveLength(3);
  });

  test('has a time where somebody has taken it away', () => {
    const said = written.map((condition) => ({ ...condition, message: '', lastTransitionTime: null }));
    expect(byType(lifecycleChanges(said, DRAINING, NOW))['Drained']).toMatchObject({ lastTransitionTime: NOW });
  });

  test('takes ours away where nothing of ours is to be there, and leaves those of others', () => {
    const others = { type: 'Drained', status: 'True', reason: 'AdminRequested' };
    const said = [...written.filter(({ type }) => type !== others.type), others];
    expect(lifecycleChanges(said, undefined, NOW)).toEqual(
      ['MaintenancePlanned', 'DrainInProgress', 'MaintenanceInProgress'].map((type) => ({ $patch: 'delete', type })),
    );
    expect(lifecycleChanges([], undefined, NOW)).toEqual([]);
  });

  test.each([
    ['is left while it says the same', 'DrainInProgress', 'True', undefined],
    ['is replaced where it denies what is so', 'DrainInProgress', 'False', 'True'],
    ['is replaced where it does not know what is so', 'DrainInProgress', 'Unknown', 'True'],
    ['is left where something of its own is so', 'MaintenanceInProgress', 'True', undefined],
  ])('over a condition of others, which %s', (_, type, status, expected) => {
    const said = [{ type, status, reason: 'AdminRequested' }];
    expect(byType(lifecycleChanges(said, DRAINING, NOW))[type]?.status).toBe(expected);
  });
});
