import { describe, expect, test } from '@jest/globals';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  node,
  type Parts,
  plan,
  POLICY,
  type Rules,
  permit,
  started,
  UNPROVEN_TOO,
  type World,
} from './fleet.ts';

/** An update that has disturbed nothing gives its place back to those that wait for it. */

const held = { permits: [permit('a')] };
/** Its spec says so since the beginning of the tests. */
const at = (state: 'StagedAndPerformedUpdate' | 'RebootedIntoUpdate', status: Parts['status'] = {}): Parts => ({
  spec: { state, version: '1.1.0', state_transition_timestamp: moment(0) },
  status,
});
const STAGED: Parts['status'] = { current_state: 'StagedAndPerformedUpdate' };
const dead = node('a', { ready: false, readyChangedAt: minutes(0) });
const staging = at('StagedAndPerformedUpdate');
const staged = at('StagedAndPerformedUpdate', STAGED);
const asked = at('RebootedIntoUpdate', STAGED);

const withOthers = (a: Parts, more: Partial<World> = {}): World => fleet({ a, b: {}, c: {} }, { ...held, ...more });
const lost = (a: Parts): World => withOthers(a, { nodes: [dead, node('b'), node('c')] });

function calledOff(world: World, minute: number, rules: Partial<Rules> = {}): boolean {
  const { commands } = plan(world, { ...POLICY, ...rules }, minutes(minute));
  return commands.some(({ kind }) => kind === 'call-off');
}

describe('is called off while others wait', () => {
  test.each<[string, World, number]>([
    ['an update whose agent has prepared nothing for three hours', withOthers(staging), 180],
    ['one whose machine has died since it has staged its version, after half an hour', lost(staged), 30],
    ['one whose agent has not begun its drain half an hour after it was told to', withOthers(asked), 30],
    ['one whose machine has died before its drain', lost(asked), 30],
  ])('%s', (_what, world, minute) => {
    expect(calledOff(world, minute - 0.01)).toBe(false);
    expect(calledOff(world, minute)).toBe(true);
    const { requeueAt } = plan(world, POLICY, minutes(minute - 1));
    expect(requeueAt).toBeLessThanOrEqual(minutes(minute));
  });

  test.each<[string, World, Partial<Rules>]>([
    ['where nobody waits', fleet({ a: staged }, { ...held, nodes: [dead] }), {}],
    ['where others have places of their own', lost(staged), { ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } }],
    ['where it is Ready, and waits for what others take', withOthers({ ...staged, stateSeenAt: minutes(-60) }), {}],
    ['under a pause of the namespace', { ...lost(staged), paused: true }, {}],
    ['where what is seen is not current', { ...lost(staged), notCurrent: 'nothing is heard of the nodes' }, {}],
    [
      'where its drain has begun',
      withOthers(asked, { nodes: [node('a', { marks: MARKS, unschedulable: true }), node('b'), node('c')] }),
      {},
    ],
    ['where our view of it is out of date', withOthers({ ...staging, stale: true }), {}],
  ])('but not %s', (_where, world, rules) => {
    expect(calledOff(world, 43_200, rules)).toBe(false);
  });
});

describe('once it was called off', () => {
  const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(0) } as const;
  const returning: Parts = { spec, status: STAGED };
  const frees = (world: World, minute: number) =>
    plan(world, POLICY, minutes(minute)).commands.filter(({ kind }) => kind === 'free');

  test('its place is given back two minutes later, though its agent never reports that it is at rest', () => {
    expect(plan(fleet({ a: returning }, held), POLICY, minutes(0)).requeueAt).toBe(minutes(2));
    expect(frees(lost(returning), 1.99)).toEqual([]);
    expect(frees(lost(returning), 2)).toEqual([
      { kind: 'free', shadow: 'brs-a', nodeUid: 'uid-a', because: 'called-off' },
    ]);
  });

  test('and not while its node bears marks, or a reboot of it may be on its way', () => {
    const record = { boot_id: 'boot-1', version: '1.1.0', requested_at: moment(0) };
    const marked = withOthers(returning, { nodes: [node('a', { marks: MARKS }), node('b'), node('c')] });
    expect(frees(marked, 60)).toEqual([]);
    expect(frees(withOthers({ spec, status: { current_state: 'RebootedIntoUpdate', reboot: record } }), 60)).toEqual(
      [],
    );
  });

  test('others get its place, and it comes after them', () => {
    const later = { ...returning, stepBeganAt: minutes(-2) };
    expect(started(fleet({ a: returning, b: {}, c: {} }))).toEqual([]);
    expect(started(fleet({ a: later, b: {}, c: {} }))).toEqual(['b']);
    expect(started(fleet({ a: { spec }, b: {}, c: {} }))).toEqual(['b']);
    expect(started(fleet({ a: { spec } }))).toEqual(['a']);
    expect(started(fleet({ a: { spec: { ...spec, version: '1.0.5' } }, b: {} }))).toEqual(['a']);
  });

  test('a machine that is not Ready takes the place for as long as any other outage does', () => {
    const world = { ...lost(returning), permits: [] };
    const startsAt = (minute: number) =>
      plan(world, POLICY, minutes(minute)).commands.some(({ kind }) => kind === 'start');
    expect([startsAt(59), startsAt(60)]).toEqual([false, true]);
  });
});
