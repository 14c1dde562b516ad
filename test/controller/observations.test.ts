import { describe, expect, test } from '@jest/globals';
import { Observations } from '../../runtime/controller/seeing/observations.ts';
import type { NodeFacts, ShadowFacts } from '../../runtime/controller/seeing/views.ts';
import { DRAINED, minutes, moment, node, rebooting, shadow, permit } from './plan/fleet.ts';

const nodeFacts = (more: Partial<NodeFacts> = {}): NodeFacts => ({
  ...node('a'),
  readinessStatedAt: minutes(-60),
  ...more,
});
const shadowFacts = (more: Partial<ShadowFacts> = {}): ShadowFacts => ({
  ...shadow('a', rebooting),
  finishStatedAt: undefined,
  ...more,
});

/** What is made of each pair in turn, a minute apart. */
function looks(pairs: readonly (readonly [NodeFacts, ShadowFacts])[]) {
  const observations = new Observations();
  return pairs.map(([on, its], minute) => {
    const nodes = observations.nodes([on], minutes(minute));
    return { node: nodes[0]!, shadow: observations.shadows([its], nodes, minutes(minute))[0]! };
  });
}

test('what is as it was is counted on from, whatever else has changed', () => {
  const drained = nodeFacts({ marks: DRAINED });
  const seen = looks([
    [drained, shadowFacts()],
    [drained, shadowFacts()],
    [nodeFacts({ marks: DRAINED, held: true }), shadowFacts({ resourceVersion: '101' })],
  ]);
  for (const look of seen) {
    expect(look.node.readinessSeenAt).toBe(minutes(0));
    expect(look.shadow).toMatchObject({ stateSeenAt: minutes(0), rebootAskedAt: minutes(0) });
  }
});

test('what went and came back between two looks begins anew', () => {
  const seen = looks([
    [nodeFacts({ ready: false }), shadowFacts()],
    [nodeFacts({ ready: false, readinessStatedAt: minutes(-59) }), shadowFacts()],
  ]);
  expect(seen.map((look) => look.node.readinessSeenAt)).toEqual([minutes(0), minutes(1)]);
  // What was before the first look is believed to be as old as its time says.
  const stated = looks([-59, -58].map((at) => [nodeFacts({ readinessStatedAt: minutes(at) }), shadowFacts()] as const));
  expect(stated.map((look) => look.node.readyFrom)).toEqual([minutes(-59), minutes(1)]);
});

test('an offer is as old as its condition says at first sight, and begins anew where the shadow was seen without one', () => {
  const lastTransitionTime = moment(-60);
  const condition = { type: 'UpToDate', status: 'False', reason: 'Updating', message: '', lastTransitionTime } as const;
  const offered = (target_version: string): ShadowFacts =>
    shadowFacts({ status: { ...shadow('a').status!, target_version, conditions: [condition] } });
  const { current_version: runs } = shadow('a').status!;
  const seen = (...targets: readonly string[]): readonly (number | undefined)[] =>
    looks(targets.map((target) => [nodeFacts(), offered(target)])).map((look) => look.shadow.offeredAt);
  expect(seen('1.7.0', '1.7.0')).toEqual([minutes(-60), minutes(-60)]);
  expect(seen(runs, '1.7.0', '1.7.0')).toEqual([undefined, minutes(1), minutes(1)]);
});

test('a node went not Ready each time that it is seen so, and once between two looks of which the later one says so', () => {
  const at = (ready: boolean, minute: number) =>
    [nodeFacts({ ready, readinessStatedAt: minutes(minute) }), shadowFacts()] as const;
  const seen = looks([
    at(true, -9),
    at(false, 0),
    at(false, 1),
    at(true, 2),
    at(true, 3),
    at(false, 5),
    at(true, 6),
    at(false, 7),
  ]);
  expect(seen[4]?.node.unreadyAt).toEqual([minutes(1), minutes(4)]);
  expect(seen.at(-1)?.node.unreadyAt).toEqual([minutes(4), minutes(5), minutes(7)]);
});

test('each state, and each version that it leads to, begins anew', () => {
  const spec = (version: string): Partial<ShadowFacts> => ({ spec: { state: 'RebootedIntoUpdate', version } });
  const seen = looks([
    [nodeFacts(), shadowFacts(spec('1.1.0'))],
    [nodeFacts(), shadowFacts(spec('1.2.0'))],
  ]);
  expect(seen.map((look) => look.shadow.stateSeenAt)).toEqual([minutes(0), minutes(1)]);
});

test('a node is out since its taint says, but not longer than it was seen so, and it was Ready if it ever was seen so', () => {
  const observations = new Observations();
  const seen = (more: Partial<NodeFacts>, minute: number) => {
    const [{ outAt, wasReady } = { outAt: undefined, wasReady: undefined }] = observations.nodes(
      [nodeFacts(more)],
      minutes(minute),
    );
    return [outAt, wasReady];
  };
  const cordoned = { ready: false, unschedulable: true };
  expect(seen({ ...cordoned, outStatedAt: minutes(-30) }, 0)).toEqual([minutes(-30), false]);
  expect(seen({ ready: true }, 1)).toEqual([undefined, true]);
  expect(seen({ ...cordoned, outStatedAt: minutes(60) }, 2)).toEqual([minutes(2), true]);
  // Whoever removes a machine may take days, and has made room for its pods.
  expect(seen({ ready: true, leaving: true }, 3)).toEqual([undefined, true]);
});

test.each([-20, 20])(
  'a wall clock that is set by %d minutes makes nothing older or younger, whatever is read next',
  (jump) => {
    const observations = new Observations();
    const look = (minute: number, more: Partial<ShadowFacts>, ahead = 0) => {
      const now = minutes(minute + ahead);
      observations.follow({ monotonic: minute * 60_000, now });
      const nodes = observations.nodes([on], now);
      const ages = (times: readonly (number | undefined)[]): number[] => times.map((time) => (now - time!) / 60_000);
      const [seen] = observations.shadows([shadowFacts({ ...its, ...more })], nodes, now);
      const [held] = observations.permits([taken], now);
      const { readinessSeenAt, readyChangedAt, readyFrom } = nodes[0]!;
      const { stateSeenAt, stepBeganAt, rebootAskedAt, failedAt, finishedAt, cannotLookSince, upToDateSince, endedAt } =
        seen!;
      const ofNode = [readinessSeenAt, readyChangedAt, readyFrom, observations.silence(nodes, [], now).get('a')];
      const ofStep = [stateSeenAt, stepBeganAt, rebootAskedAt, held!.since, held!.rebootAskedAt];
      return ages(ofNode.concat(ofStep, [failedAt, finishedAt, cannotLookSince, upToDateSince, endedAt]));
    };
    const on = nodeFacts({ marks: DRAINED, ready: false, readinessStatedAt: minutes(-60) });
    const upToDate = {
      type: 'UpToDate',
      status: 'True',
      reason: '',
      message: '',
      lastTransitionTime: moment(-9),
    } as const;
    const its: Partial<ShadowFacts> = {
      spec: { ...rebooting.spec!, state: 'RebootedIntoUpdate', state_transition_timestamp: moment(-8) },
      status: {
        ...shadow('a', rebooting).status!,
        state_transition_failure_timestamp: moment(-7),
        check: { failing_since: moment(-6), error: '' },
        conditions: [upToDate],
      },
      finishStatedAt: minutes(-5),
    };
    const taken = { ...permit('a'), since: minutes(-9), rebootAskedAt: minutes(-3) };
    const before = look(0, {});
    expect(before).toEqual([0, 60, 60, 0, 0, 8, 0, 9, 3, 7, 5, 6, 9, 5]);
    expect(look(1, {}, jump)).toEqual(before.map((age) => age + 1));
    expect(look(2, { resourceVersion: '101' }, jump)).toEqual(before.map((age) => age + 2));
  },
);

test('nothing is made anew of what has not changed', () => {
  const [on, its] = [nodeFacts(), shadowFacts()];
  const [first, second] = looks([
    [on, its],
    [on, its],
  ]);
  expect([second!.node, second!.shadow]).toEqual([first!.node, first!.shadow]);
  expect(second!.node).toBe(first!.node);
  expect(second!.shadow).toBe(first!.shadow);
});

test('the look at the pods of a node counts from when it says, but not from later than it was first seen', () => {
  const lookedAt = (...ats: readonly (string | undefined)[]): (number | undefined)[] =>
    looks(
      ats.map((looked_at) => [
        nodeFacts(),
        shadowFacts({
          status: { ...shadow('a').status!, ...(looked_at && { preflight: { looked_at, blocked_by: [] } }) },
        }),
      ]),
    ).map((look) => look.shadow.lookedAt);
  expect(lookedAt(undefined, moment(-5), moment(-5), undefined)).toEqual([
    undefined,
    minutes(-5),
    minutes(-5),
    undefined,
  ]);
  // Another clock is ahead.
  expect(lookedAt(moment(9), moment(9))).toEqual([minutes(0), minutes(0)]);
});

describe('the end of an update', () => {
  const atRest = (more: Partial<ShadowFacts> = {}): ShadowFacts => shadowFacts({ ...shadow('a'), ...more });
  const ends = (...facts: readonly ShadowFacts[]): (number | undefined)[] =>
    looks(facts.map((one) => [nodeFacts(), one])).map((look) => look.shadow.endedAt);

  test('is when this process has seen it', () => {
    const active = shadowFacts();
    expect(ends(active, atRest(), atRest({ resourceVersion: '9' }))).toEqual([undefined, minutes(1), minutes(1)]);
  });

  test('is when what is stored says that it was finished or failed, for a process that comes later', () => {
    const failed = { ...atRest().status!, state_transition_failure_timestamp: moment(-20) };
    expect(ends(atRest())).toEqual([undefined]);
    expect(ends(atRest({ finishStatedAt: minutes(-30) }))).toEqual([minutes(-30)]);
    expect(ends(atRest({ finishStatedAt: minutes(-30), status: failed }))).toEqual([minutes(-20)]);
    // Another clock is ahead.
    expect(ends(atRest({ finishStatedAt: minutes(9) }))).toEqual([minutes(0)]);
  });

  test('is none where its machine has only joined', () => {
    const finishStatedAt = minutes(-30);
    expect(ends(shadowFacts({ movedNobody: true }), atRest({ movedNobody: true, finishStatedAt }))).toEqual([
      undefined,
      undefined,
    ]);
    expect(ends(atRest({ finishStatedAt }), atRest({ movedNobody: true, finishStatedAt: minutes(1) }))).toEqual([
      minutes(-30),
      minutes(-30),
    ]);
  });

  test('also of an update of which no look has shown anything', () => {
    const failed = { ...atRest().status!, state_transition_failure_timestamp: '2026-01-01T00:00:00Z' };
    expect(ends(atRest(), atRest({ finishStatedAt: minutes(1) }))).toEqual([undefined, minutes(1)]);
    expect(ends(atRest(), atRest({ status: failed }))).toEqual([undefined, minutes(1)]);
  });

  describe('is none where it was called off before its node was disturbed', () => {
    const STAGED = { ...shadow('a').status!, current_state: 'StagedAndPerformedUpdate' } as const;
    const drain = { started_at: '2026-01-01T00:00:00Z', pods_left: 1, blocked_by: ['a budget'] };
    const REFUSED = { ...STAGED, drain };
    const wanted = (state: 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate' | 'Idle', status: ShadowFacts['status']) =>
      shadowFacts({ spec: { state, version: '1.1.0' }, status });
    const staged = wanted('StagedAndPerformedUpdate', STAGED);
    const refused = wanted('RebootedIntoUpdate', REFUSED);

    test.each([
      ['once it was staged', [staged, wanted('Idle', STAGED)]],
      ['since its drain was refused', [staged, refused, wanted('Idle', REFUSED)]],
      ['between two looks', [staged, refused]],
    ])('%s: what ended before stays', (_when, facts) => {
      const ended = { finishStatedAt: minutes(-30) };
      const seen = ends(
        ...[atRest(), ...facts, atRest({ resourceVersion: '9' })].map((one) => Object.assign(one, ended)),
      );
      expect(seen.at(-1)).toBe(minutes(-30));
    });

    test.each(['StagedAndPerformedUpdate', 'RebootedIntoUpdate'] as const)(
      'nor where its host offered another version before that, in %s',
      (state) => {
        const last_failure = { reason: 'TargetChanged', state, version: '1.1.0', message: '', time: '' } as const;
        const changed = { ...STAGED, current_state: 'ErrorReset', last_failure } as const;
        const facts = [atRest(), wanted(state, STAGED), wanted(state, changed), wanted('Idle', changed), atRest()];
        const end = (on: NodeFacts): number | undefined =>
          looks(facts.map((one, look) => [look === 0 || look === 4 ? nodeFacts() : on, one])).at(-1)?.shadow.endedAt;
        expect(end(nodeFacts())).toBeUndefined();
        expect(end(nodeFacts({ marks: DRAINED }))).toBe(minutes(4));
      },
    );

    test('but is one where its drain had begun, or where it failed', () => {
      const draining = wanted('RebootedIntoUpdate', STAGED);
      expect(ends(refused, draining, wanted('Idle', STAGED), atRest()).at(-1)).toBe(minutes(3));
      const failed = { ...atRest().status!, state_transition_failure_timestamp: '2026-01-01T00:00:00Z' };
      expect(ends(refused, atRest({ status: failed })).at(-1)).toBe(minutes(1));
    });
  });
});

test('a release is not proven sooner because of a clock that is ahead, nor later each time that its node is looked at', () => {
  const condition = { type: 'UpToDate', status: 'True', reason: 'UpToDate', message: '' } as const;
  const at = (minute: number, more: Partial<ShadowFacts> = {}): ShadowFacts => {
    const conditions = [{ ...condition, lastTransitionTime: new Date(minutes(minute)).toISOString() }];
    return shadowFacts({ status: { ...shadow('a').status!, conditions }, ...more });
  };
  const since = (...facts: readonly ShadowFacts[]): (number | undefined)[] =>
    looks(facts.map((one) => [nodeFacts(), one])).map((look) => look.shadow.upToDateSince);
  expect(since(at(-60))).toEqual([minutes(-60)]);
  expect(since(at(60), at(60, { resourceVersion: '9' }))).toEqual([minutes(0), minutes(0)]);
  expect(since(at(0), at(1))).toEqual([minutes(0), minutes(1)]);
  const blind = {
    ...condition,
    status: 'Unknown',
    reason: 'CannotLookForUpdates',
    lastTransitionTime: moment(0),
  } as const;
  const cannotLook = at(0, { status: { ...shadow('a').status!, conditions: [blind] } });
  // Nothing is known of what came before this process, and nothing is taken back.
  expect(since(at(-60), cannotLook, at(2))).toEqual([minutes(-60), minutes(-60), minutes(-60)]);
  expect(since(cannotLook, at(2))).toEqual([undefined, minutes(1)]);
});

test('a Node that was made anew under its name has not been without its agent for as long as the one before', () => {
  const observations = new Observations();
  const since = (uid: string, now: number): number | undefined =>
    observations.silence([{ name: 'a', uid }], [], minutes(now)).get('a');
  expect([since('one', 0), since('one', 60), since('another', 61)]).toEqual([minutes(0), minutes(0), minutes(61)]);
});

test('a Node is as old as it says, but not younger than it was first seen, whatever becomes of the clock', () => {
  const observations = new Observations();
  const created = (minute: number, now: number, monotonic = now): number => {
    observations.follow({ now: minutes(now), monotonic: minutes(monotonic) });
    return observations.nodes([nodeFacts({ createdAt: minutes(minute) })], minutes(now))[0]!.createdAt;
  };
  // Its API server is an hour ahead.
  expect([created(60, 0), created(60, 5), created(60, -55, 6)]).toEqual([minutes(0), minutes(0), minutes(-61)]);
  expect(looks([[nodeFacts({ createdAt: minutes(-9) }), shadowFacts()]])[0]?.node.createdAt).toBe(minutes(-9));
});
