import { describe, expect, test } from '@jest/globals';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { plan as planOnce } from '../../../runtime/controller/plan/plan.ts';
import {
  DRAINED,
  fleet,
  MARKS,
  minutes,
  moment,
  monitoring,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  rebooting,
  underRules,
  type World,
} from './fleet.ts';

/** A node that is back, and waits for what its drain has displaced. `settle` is five minutes. */

const missing = { owners: [], looked_at: moment(-1), missing: ['StatefulSet shop/db: 2 of 3 ready'] };

/** @param told minutes ago to monitor @param ready minutes ago it became so */
function settling(told: number, ready: number): World {
  const a = monitoring(-told);
  const nodes = [node('a', { readyChangedAt: minutes(-ready) })];
  return fleet({ a: { ...a, status: { ...a.status, displaced: missing } } }, { nodes, permits: [permit('a')] });
}

const waits = (told: number, ready: number): boolean => plan(settling(told, ready), POLICY, NOW).commands.length === 0;

test('its time counts from when it takes pods again: some can run nowhere else', () => {
  expect([waits(4, 20), waits(6, 20), waits(6, 4), waits(9, 6)]).toEqual([true, false, true, false]);
  expect(plan(settling(6, 4), POLICY, NOW).requeueAt).toBe(minutes(1));
});

test('and from fifteen minutes after its return at most, however often it is not Ready: by then it would have failed its soak', () => {
  expect([waits(16, 2), waits(19, 1), waits(20, 1)]).toEqual([true, true, false]);
});

describe('what is not back in time is blamed on the release', () => {
  const ownerOf = (uid: string) => ({ kind: 'ReplicaSet', namespace: 'shop', name: uid, uid, ready: 3 });
  const displacedOf = (...uids: string[]) => ({ owners: uids.map(ownerOf), looked_at: moment(0), missing: uids });
  const backSince = (told: number, ...uids: string[]): Parts => {
    const parts = monitoring(-told);
    return { ...parts, status: { ...parts.status, displaced: displacedOf(...uids) } };
  };
  const cordoned = { marks: MARKS, unschedulable: true } as const;
  const out: Parts = { ...rebooting, status: { ...rebooting.status, displaced: displacedOf('web') } };

  const idle = { spec: { state: 'Idle', version: '1.1.0' } } as const;
  /** It has only to report that it is at rest. */
  const settled: Parts = {
    ...monitoring(),
    ...idle,
    status: { ...monitoring().status, displaced: displacedOf('web') },
  };

  /** Who is blamed where the first node is back and its time is over. */
  function blamed(other: Parts, beside: Partial<NodeView> = {}, uids: readonly string[] = ['web']): readonly string[] {
    const nodes = [node('a', { readyChangedAt: minutes(-6) }), node('b', beside)];
    const world = fleet({ a: backSince(5, ...uids), b: other }, { nodes, permits: [permit('a'), permit('b')] });
    const rules = { ...POLICY, settleFails: true };
    const { ledger } = planOnce(underRules(world, rules), rules, { now: NOW });
    return ledger.flatMap((one) => Object.values(one.ledger?.failures ?? {}).map(({ node: name }) => name));
  }

  test('where no other node has pods of it', () => {
    expect(blamed({})).toEqual(['a']);
    expect(blamed({ status: { displaced: displacedOf('web') } })).toEqual(['a']);
    expect(blamed(out, cordoned, ['db'])).toEqual(['a']);
    expect(blamed(out, cordoned, ['db', 'web'])).toEqual(['a']);
  });

  test('once, on the last that is waited for, where several are back that lack the same', () => {
    expect(blamed(backSince(5, 'web'))).toEqual(['b']);
    expect(blamed(backSince(8, 'web'))).toEqual(['a']);
    expect(blamed(backSince(1, 'web'))).toEqual([]);
    expect(blamed(settled)).toEqual(['a']);
  });

  test('but not where the drain of another has evicted pods of it that are not back either', () => {
    expect(blamed(out, cordoned)).toEqual([]);
    expect(blamed(out, { ...cordoned, marks: DRAINED })).toEqual([]);
    expect(blamed(backSince(8, 'web'), cordoned)).toEqual([]);
    expect(blamed(backSince(8, 'web'), { unschedulable: true })).toEqual([]);
    expect(blamed(backSince(8, 'web'), { ready: false })).toEqual([]);
  });
});
