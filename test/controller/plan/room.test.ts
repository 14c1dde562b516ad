import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type Plan, plan } from '../../../runtime/controller/plan/plan.ts';
import { slotBytes } from '../../../runtime/controller/plan/room.ts';
import type { SlotKey, Snapshot } from '../../../runtime/controller/plan/snapshot.ts';
import { NO_ROOM, WAITING } from '../../../runtime/controller/plan/verdict.ts';
import { formatEntries, withTaken } from '../../../runtime/controller/slots/entries.ts';
import { fleet, minutes, moment, node, NOW, POLICY, slot, updated } from './fleet.ts';
import { policy, world } from './worlds.ts';

const EVERYBODY = { ...POLICY, maxConcurrent: { kind: 'unlimited' }, maxFailed: { kind: 'unlimited' } } as const;
const ENTRY = slotBytes(slot('a'));
const three = fleet({ a: {}, b: {}, c: {} });
const starts = ({ commands }: Plan): readonly string[] =>
  commands.flatMap((command) => (command.kind === 'start' ? [command.node] : []));

/** The list as it stands on the Lease once the slots of these are taken besides. */
const listWith = (slots: readonly SlotKey[], more: readonly SlotKey[]): string =>
  formatEntries(withTaken(withTaken([], slots, moment(-7)), more, moment(0)));

describe('starts', () => {
  test('are as many as their slots fit on the Lease, to the byte', () => {
    expect(starts(plan({ ...three, slotCapacity: 2 * ENTRY }, EVERYBODY, NOW))).toEqual(['a', 'b']);
    expect(starts(plan({ ...three, slotCapacity: 2 * ENTRY - 1 }, EVERYBODY, NOW))).toEqual(['a']);
  });

  test('leave the rest waiting in its turn, with words of its own', () => {
    const { verdicts } = plan({ ...three, slotCapacity: ENTRY }, EVERYBODY, NOW);
    expect(verdicts).toMatchObject([{ reason: 'Updating' }, { ...NO_ROOM, position: 1 }, { ...NO_ROOM, position: 2 }]);
    expect(plan(three, POLICY, NOW).verdicts).toMatchObject([{}, WAITING, WAITING]);
  });

  test('of a node that is listed already need no room', () => {
    const snapshot = { ...three, slots: [slot('b'), slot('x')], slotCapacity: 2 * ENTRY };
    expect(starts(plan({ ...snapshot, nodes: [...three.nodes, node('x')] }, EVERYBODY, NOW))).toEqual(['b']);
  });

  test('wait where the list is longer than may be, as another version may have left it', () => {
    const snapshot = fleet({ a: {}, b: updated }, { slots: [slot('b')], slotCapacity: ENTRY - 1 });
    const { commands } = plan(snapshot, EVERYBODY, NOW);
    expect(commands).toMatchObject([{ kind: 'free', shadow: 'brs-b' }]);
    expect(starts(plan({ ...snapshot, slots: [], slotCapacity: ENTRY }, EVERYBODY, NOW))).toEqual(['a']);
  });

  test('that do not fit are not woken up for when a place comes back with time', () => {
    const down = node('x', { ready: false, readyChangedAt: minutes(-59) });
    const waiting: Snapshot = { ...fleet({ a: {} }), nodes: [node('a'), down] };
    expect(plan(waiting, POLICY, NOW).wakeAt).toBe(minutes(1));
    expect(plan({ ...waiting, slotCapacity: ENTRY - 1 }, POLICY, NOW).wakeAt).toBeUndefined();
  });

  test('never make the list longer than the Lease has room for, in any world', () => {
    fc.assert(
      fc.property(world, policy, (snapshot, rules) => {
        const { commands } = plan(snapshot, rules, NOW);
        const taken = commands.filter((command) => command.kind === 'start');
        const fresh = taken.filter(({ nodeUid }) => !snapshot.slots.some((one) => one.nodeUid === nodeUid));
        if (fresh.length > 0) expect(listWith(snapshot.slots, taken).length).toBeLessThanOrEqual(snapshot.slotCapacity);
      }),
      { numRuns: 1500 },
    );
  });
});

test('what slots take on the Lease is never more than is reckoned with', () => {
  const names = fc.stringMatching(/^[a-z0-9][-a-z0-9.]{0,252}$/);
  const keys = fc.uniqueArray(fc.record({ shadow: names, nodeUid: fc.uuid() }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 999_999 }), (slots, taken) => {
      const entries = slots.map(({ shadow, nodeUid }) => ({ shadow, nodeUid, starts: taken, since: moment(0) }));
      const reckoned = slots.reduce((sum, one) => sum + slotBytes(one), 0);
      expect(formatEntries(entries).length - '[]'.length).toBeLessThanOrEqual(reckoned);
    }),
  );
});
