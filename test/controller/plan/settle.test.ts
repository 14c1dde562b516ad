import { describe, expect, test } from '@jest/globals';
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
  const out: Parts = { ...rebooting, status: { ...rebooting.status, displaced: displacedOf('web') } };

  /** Who is blamed where the first node is back and its time is over. */
  function blamed(other: Parts, marks?: typeof MARKS, uids: readonly string[] = ['web']): readonly string[] {
    const nodes = [node('a', { readyChangedAt: minutes(-6) }), node('b', marks && { marks, unschedulable: true })];
    const world = fleet({ a: backSince(5, ...uids), b: other }, { nodes, permits: [permit('a'), permit('b')] });
    const rules = { ...POLICY, settleFails: true };
    const { ledger } = planOnce(underRules(world, rules), rules, { now: NOW });
    return ledger.flatMap((one) => Object.values(one.ledger?.failures ?? {}).map(({ node: name }) => name));
  }

  test('where no other node has pods of it', () => {
    expect(blamed({})).toEqual(['a']);
    expect(blamed({ status: { displaced: displacedOf('web') } })).toEqual(['a']);
    expect(blamed(out, MARKS, ['db'])).toEqual(['a']);
    expect(blamed(out, MARKS, ['db', 'web'])).toEqual(['a']);
  });

  test('but not where the drain of another has evicted pods of it that are not back either', () => {
    expect(blamed(out, MARKS)).toEqual([]);
    expect(blamed(out, DRAINED)).toEqual([]);
    expect(blamed(backSince(1, 'web'), MARKS)).toEqual([]);
  });
});
