import { describe, expect, test } from '@jest/globals';
import { told } from '../../runtime/cli/arguments.ts';
import { REASONS, traitsOf } from '../../runtime/controller/plan/facts/reasons.ts';
import { statusLines } from '../../runtime/cli/status/lines.ts';
import type { Counts, FleetStatus, Reasoned } from '../../runtime/cli/status/status.ts';
import type { Pace } from '../../runtime/cli/status/pace.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';

/** What people see of a fleet, by its values alone. */

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;

const counts = (some: Partial<Counts> = {}): Counts => ({
  nodes: 0,
  upToDate: 0,
  updating: 0,
  waiting: 0,
  failed: 0,
  unreported: 0,
  ...some,
});

const held = (reason: Reasoned['reason'], message: string, more: Partial<Reasoned> = {}): Reasoned => ({
  reason,
  policy: undefined,
  message,
  nodes: ['a'],
  staged: 0,
  avoided: 0,
  arriving: 0,
  since: undefined,
  until: undefined,
  ...more,
});

const FLEET = counts({ nodes: 10, upToDate: 5, updating: 2, waiting: 2, failed: 1 });

const status = (some: Partial<FleetStatus> = {}): FleetStatus => ({
  now: NOW,
  paused: false,
  notKnown: [],
  noLeader: undefined,
  reaches: [],
  counts: FLEET,
  policies: [{ name: undefined, counts: FLEET, progressing: undefined, halted: undefined, late: undefined, zones: [] }],
  families: [{ name: 'aws-k8s-1.33/amd64', counts: FLEET, runs: ['1.0.0', '1.1.0'], offered: ['1.1.0'] }],
  halted: [],
  needsYou: [],
  updating: [],
  waiting: [],
  pace: {
    finishedLastHour: 4,
    typicalMs: 6 * MINUTE,
    left: 4,
    toCome: 0,
    stuck: 0,
    waitsFor: [],
    endsAt: NOW + 24 * MINUTE,
    isCut: false,
  },
  ...some,
});

const FAILED = [
  { node: 'a', reason: 'BootFailed', at: '', runs: '1.0.0' },
  { node: 'b', reason: 'BootFailed', at: '', runs: '1.0.0' },
  { node: 'c', reason: 'Gone', at: '' },
] as const;
const REMEDY =
  'Nodes that failed may try again, and those whose drain has begun go on. Where the nodes were at fault: kubectl brupop clear 1.1.0; to start others all the same: kubectl brupop allow 1.1.0.';

test('what needs a person comes first, with what to do', () => {
  const needsYou = [held('NotReturned', 'the node did not come back', { since: NOW - 20 * MINUTE })];
  const halted = [
    {
      version: '1.1.0',
      family: 'f',
      because: 'Nodes',
      failures: 3,
      failed: FAILED,
      mayFail: 3,
      policy: 'prod',
    } as const,
  ];
  expect(statusLines(status({ needsYou, halted }), PLAIN).slice(0, 3)).toEqual([
    'NEEDS YOU',
    `  1.1.0 (f) is halted for policy prod: too many nodes failed on it (3 may): a, b BootFailed (running 1.0.0); c Gone. ${REMEDY}`,
    '  a  NotReturned: the node did not come back (for 20 min). Look at the machine, or delete its Node.',
  ]);
});

test('commands of what to do are for the cluster that is shown', () => {
  const remedies = REASONS.flatMap((reason) => traitsOf(reason).remedy ?? []).filter((one) => one.includes('kubectl'));
  const here = (command: string): string => `${command} --context it`;
  expect(remedies.length).toBeGreaterThan(1);
  for (const remedy of remedies) expect(told(remedy, here)).toMatch(/kubectl brupop [^.,;]* --context it/);
});

test('policies and zones are under the fleet, each with its bar, and only where there is more than one', () => {
  const zone = (name: string, some: Partial<Counts>) => ({ name, counts: counts(some) });
  const zones = [zone('z1', { nodes: 2, upToDate: 2 }), zone('z2', { nodes: 3, waiting: 3 })];
  const own = counts({ nodes: 5, upToDate: 2, waiting: 3 });
  const policies = [
    { name: 'prod', counts: own, progressing: 'outside its windows', halted: undefined, late: 'late by 2 h', zones },
  ];
  expect(statusLines(status({ policies, families: [] }), PLAIN).slice(0, 7)).toEqual([
    '             DONE  PROGRESS                UPDATING  WAITING  FAILED  VERSIONS',
    'fleet        5/10  [##########>>>>!!....]  2         2        1',
    'policy prod  2/5   [########............]  0         3        0',
    '  zone z1    2/2   [####################]  0         0        0',
    '  zone z2    0/3   [....................]  0         3        0',
    'policy prod: outside its windows',
    'policy prod: late by 2 h',
  ]);
});

test('one node of a thousand that has failed, or is being updated, is seen in the bar, and the rest is not called done', () => {
  const all = counts({ nodes: 1000, upToDate: 998, updating: 1, failed: 1 });
  const bar = statusLines(status({ counts: all, policies: [], families: [] }), PLAIN)[1];
  expect(bar).toContain('[##################>!]');
  const nearly = counts({ nodes: 1000, upToDate: 999, waiting: 1 });
  const other = statusLines(status({ counts: nearly, policies: [], families: [] }), PLAIN)[1];
  expect(other).toContain('[###################.]');
});

test('a drain that has one pod left says so', () => {
  const one = {
    node: 'a',
    step: 'draining',
    version: '1.1.0',
    since: NOW,
    blockedBy: [],
    silentSince: undefined,
  } as const;
  const [three, last] = [3, 1].map((podsLeft) =>
    statusLines(status({ updating: [{ ...one, podsLeft }] }), PLAIN).join(),
  );
  expect([three, last]).toEqual([
    expect.stringContaining('a (3 pods left)'),
    expect.stringContaining('a (1 pod left)'),
  ]);
});

describe('on a terminal of 40 columns', () => {
  const narrow = { columns: 40, colours: false };
  const blocked = { step: 'draining', version: '1.1.0', since: NOW, podsLeft: 3, silentSince: undefined } as const;
  const lines = statusLines(
    status({
      notKnown: ['which agents run, since you may not list pods (no): all are assumed to'],
      needsYou: [held('DrainBlocked', 'the drain waits for PodDisruptionBudget shop/web', { nodes: ['node-2'] })],
      updating: [{ ...blocked, node: 'node-2', blockedBy: ['PodDisruptionBudget shop/web (pod shop/web-1)'] }],
      waiting: [held('OutsideWindow', 'updates start again at noon', { nodes: ['b', 'c', 'd', 'e', 'f'] })],
    }),
    narrow,
  );

  test('no line is wider, and no word of a sentence is lost', () => {
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    const text = lines.join(' ').replaceAll(/ +/g, ' ');
    expect(text).toContain('draining 1 node-2 (3 pods left, blocked by PodDisruptionBudget shop/web (pod shop/web-1))');
    expect(text).toContain('5 b, c, d and 2 more OutsideWindow: updates start again at noon');
  });

  test('what leads from one version to another has a line of its own', () => {
    expect(lines).toContain('aws-k8s-1.33/amd64: 1.0.0, 1.1.0 ->');
  });

  test('columns that have no room are left out, those on the right first, and long names are shortened', () => {
    expect(lines).toContain('fleet               5/10  [#####>>!..]');
    expect(lines).toContain('aws-k8s-1.33/amd64  5/10  [#####>>!..]');
  });
});

test('colours mean something, and are absent without them', () => {
  const seen = status({ paused: true });
  const [first = ''] = statusLines(seen, { columns: 100, colours: true });
  expect(first).toBe('\u001B[33mThe fleet is paused: no update starts. kubectl brupop resume ends that.\u001B[39m');
  const widths = (colours: boolean) => statusLines(seen, { columns: 100, colours }).length;
  expect(widths(true)).toBe(widths(false));
  expect(statusLines(seen, { columns: 100, colours: false }).join('')).not.toContain('\u001B');
});

test('when all is done it says so, and what does not go on by itself is told with whom it waits for', () => {
  const done = {
    finishedLastHour: 0,
    typicalMs: undefined,
    left: 0,
    toCome: 0,
    stuck: 0,
    endsAt: undefined,
    isCut: false,
  };
  const last = (pace: Partial<Pace>) => statusLines(status({ pace: { ...done, waitsFor: [], ...pace } }), PLAIN).at(-1);
  expect(last({})).toMatch(/^All nodes/);
  const waitsFor = [
    { reason: 'NotReturned', nodes: ['b'] },
    { reason: 'Held', nodes: ['c', 'd', 'e', 'f'] },
  ] as const;
  const stuck = 'waits for b (NotReturned), c, d, e and 1 more (Held)';
  expect(last({ stuck: 5, waitsFor })).toBe(
    `0 finished in the last hour; 5 nodes do not go on by themselves: ${stuck}.`,
  );
  expect(last({ left: 2, endsAt: NOW + 24 * MINUTE, stuck: 5, waitsFor })).toContain(
    `about 24 min to go, until 2026-01-01T12:24:00Z; 5 nodes do not go on by themselves: ${stuck}.`,
  );
  expect(last({ left: 2, endsAt: NOW, isCut: true })).toContain('; it ends after 2026-01-01T12:00:00Z.');
});
