import { expect, test } from '@jest/globals';
import { MINUTE } from './units.ts';
import { calmMs } from './invariants/liveness.ts';
import { run } from './run.ts';
import type { Scenario } from './types.ts';

const NODES = ['node-1', 'node-2', 'node-3'];
const [BEFORE, AFTER] = ['1.38.0', '1.39.0'] as const;

/** What people do in the minute of `at` for so many, and agents that are killed as they commit settings, from these minutes on. */
function storm(
  kind: string,
  at: number,
  forMinutes: number,
  { dice, kills }: { dice: number; kills: readonly number[] },
) {
  const during = { kind, when: { kind: 'at', at: at * MINUTE }, forMs: forMinutes * MINUTE, dice } as const;
  const killed = kills.map((from) => ({
    kind: 'agent-crashes',
    when: { kind: 'moment', moment: 'locked', phase: 'after', from: from * MINUTE, delayMs: 0 } as const,
    forMs: 1000,
    dice: 1,
  }));
  return [during, ...killed].map((fault, index) => Object.assign(fault, { id: index + 1 }));
}

/** Two releases, of which the second comes out after so many minutes. */
async function played(minutes: number, { comes, faults }: { comes: number; faults: Scenario['faults'] }) {
  const scenario: Scenario = {
    seed: 1,
    nodes: NODES.length,
    stormMs: minutes * MINUTE,
    settings: { controller: {}, apiserver: {}, agent: {} },
    policies: { definedAt: 0, policies: {} },
    releases: [
      { version: BEFORE, from: 0 },
      { version: AFTER, from: comes * MINUTE },
    ],
    faults,
  };
  const { violations, history, faults: begun } = await run(scenario, { calmMs, onEntry: () => undefined });
  expect(violations).toEqual([]);
  const hosts = history.filter((entry) => entry.kind === 'host');
  const came = (version: string, from: number, to: number): readonly string[] =>
    hosts
      .filter(({ event, at }) => event.kind === 'up' && event.version === version && from < at && at < to)
      .map(({ node }) => node)
      .toSorted();
  return { hosts, came, begun };
}

test('a pin holds the whole fleet while a newer release is out, and its end lets it go on, with no lock left', async () => {
  const faults = storm('policy-pinned', 1, 30, { dice: 2, kills: [0, 30] });
  const { hosts, came, begun } = await played(40, { comes: 10, faults });
  const locked = (lock: string): readonly string[] =>
    hosts
      .filter(({ event }) => event.kind === 'settings' && event.by === 'agent' && event.lock === lock)
      .map(({ node }) => node)
      .toSorted();
  expect([locked(BEFORE), locked('latest')]).toEqual([NODES, NODES]);
  expect([came(AFTER, 0, 31 * MINUTE), came(AFTER, 31 * MINUTE, Infinity)]).toEqual([[], NODES]);
  expect(begun).toEqual({ 'policy-pinned': 1, 'agent-crashes': 2 });
});

test('a release that people roll back is left by the whole fleet, and reached again once they let it, with no lock left', async () => {
  const faults = storm('rolled-back', 25, 40, { dice: 3, kills: [25, 26] });
  const { came, begun } = await played(100, { comes: 1, faults });
  expect([came(AFTER, 0, 25 * MINUTE), came(BEFORE, 25 * MINUTE, 65 * MINUTE)]).toEqual([NODES, NODES]);
  expect(came(AFTER, 25 * MINUTE, 65 * MINUTE)).toEqual([]);
  expect(came(AFTER, 65 * MINUTE, Infinity)).toEqual(NODES);
  expect(begun).toEqual({ 'rolled-back': 1, 'agent-crashes': 2 });
});

test('an agent whose shadow is deleted as it commits a lock sets what was on record, and nobody takes that lock for ours later', async () => {
  const deleted = {
    id: 2,
    kind: 'delete-shadow',
    when: { kind: 'moment', moment: 'locked', phase: 'before', from: MINUTE, delayMs: 0 },
    forMs: 1000,
    dice: 1,
  } as const;
  const { hosts, begun } = await played(40, {
    comes: 10,
    faults: [...storm('policy-pinned', 1, 30, { dice: 2, kills: [] }), deleted],
  });
  expect(begun).toEqual({ 'policy-pinned': 1, 'delete-shadow': 1 });
  expect(hosts.some(({ event }) => event.kind === 'settings' && event.lock === BEFORE)).toBe(true);
});
