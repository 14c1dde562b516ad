import { expect, test } from '@jest/globals';
import { MINUTE } from './faults/kind.ts';
import { calmMs } from './invariants/liveness.ts';
import { run } from './run.ts';
import type { Scenario } from './types.ts';

const NODES = ['node-1', 'node-2', 'node-3'];
const [BEFORE, AFTER] = ['1.38.0', '1.39.0'] as const;

/** A policy pins what runs, from a minute on and for half an hour, while another release is out; an agent is killed as it has locked its host, and one as it has unlocked it. */
const PINNED: Scenario = {
  seed: 1,
  nodes: NODES.length,
  stormMs: 40 * MINUTE,
  settings: { controller: {}, apiserver: {}, agent: {} },
  policies: { definedAt: 0, policies: {} },
  releases: [
    { version: BEFORE, from: 0 },
    { version: AFTER, from: 10 * MINUTE },
  ],
  faults: [
    { id: 1, kind: 'policy-pinned', when: { kind: 'at', at: MINUTE }, forMs: 30 * MINUTE, dice: 2 },
    ...[0, 30].map((after, index) => ({
      id: index + 2,
      kind: 'agent-crashes',
      when: { kind: 'moment', moment: 'locked', phase: 'after', from: after * MINUTE, delayMs: 0 } as const,
      forMs: 1000,
      dice: 1,
    })),
  ],
};

test('a pin holds the whole fleet while a newer release is out, and its end lets it go on, with no lock left', async () => {
  const { violations, history, faults } = await run(PINNED, { calmMs, onEntry: () => undefined });
  expect(violations).toEqual([]);
  const hosts = history.filter((entry) => entry.kind === 'host');
  const locked = (lock: string): readonly string[] =>
    hosts
      .filter(({ event }) => event.kind === 'settings' && event.by === 'agent' && event.lock === lock)
      .map(({ node }) => node)
      .toSorted();
  expect([locked(BEFORE), locked('latest')]).toEqual([NODES, NODES]);
  const ups = hosts.filter(({ event }) => event.kind === 'up' && event.version === AFTER);
  expect(ups.map(({ node }) => node).toSorted()).toEqual(NODES);
  expect(Math.min(...ups.map(({ at }) => at))).toBeGreaterThan(31 * MINUTE);
  expect(faults).toEqual({ 'policy-pinned': 1, 'agent-crashes': 2 });
});

/** People take all nodes back from the release that they run, for 40 minutes; two agents are killed as they have locked their hosts. */
const ROLLED_BACK: Scenario = {
  ...PINNED,
  stormMs: 100 * MINUTE,
  releases: [
    { version: BEFORE, from: 0 },
    { version: AFTER, from: MINUTE },
  ],
  faults: [
    { id: 1, kind: 'rolled-back', when: { kind: 'at', at: 25 * MINUTE }, forMs: 40 * MINUTE, dice: 3 },
    ...[25, 26].map((after, index) => ({
      id: index + 2,
      kind: 'agent-crashes',
      when: { kind: 'moment', moment: 'locked', phase: 'after', from: after * MINUTE, delayMs: 0 } as const,
      forMs: 1000,
      dice: 1,
    })),
  ],
};

test('a release that people roll back is left by the whole fleet, and reached again once they let it, with no lock left', async () => {
  const { violations, history, faults } = await run(ROLLED_BACK, { calmMs, onEntry: () => undefined });
  expect(violations).toEqual([]);
  const hosts = history.filter((entry) => entry.kind === 'host');
  const came = (version: string, from: number, to: number): readonly string[] =>
    hosts
      .filter(({ event, at }) => event.kind === 'up' && event.version === version && from < at && at < to)
      .map(({ node }) => node)
      .toSorted();
  expect([came(AFTER, 0, 25 * MINUTE), came(BEFORE, 25 * MINUTE, 65 * MINUTE)]).toEqual([NODES, NODES]);
  expect(came(AFTER, 25 * MINUTE, 65 * MINUTE)).toEqual([]);
  expect(came(AFTER, 65 * MINUTE, Infinity)).toEqual(NODES);
  expect(faults).toEqual({ 'rolled-back': 1, 'agent-crashes': 2 });
});
