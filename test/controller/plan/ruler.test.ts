import { expect, test } from '@jest/globals';
import { fleet, monitoring, NOW, type Parts, plan, POLICY, ruling, permit, staging, started } from './fleet.ts';

/** A sync deletes a policy for a moment, or labels come after their node: what rules meanwhile decides nothing. */

const staged: Parts = { ...staging, status: { current_state: 'StagedAndPerformedUpdate' } };
const since = (seconds: number) => ({ ruledSince: new Map([['uid-a', NOW - seconds * 1000]]) });

test('a node whose policy rules it for less than 30 s does not start, and says since when', () => {
  const policies = [ruling('prod', { selector: {} })];
  const world = fleet({ a: {} }, { policies, ...since(12) });
  expect(plan(world, POLICY, NOW)).toMatchObject({
    commands: [],
    verdicts: [
      {
        reason: 'NewlyRuled',
        message: expect.stringContaining('ruled by policy prod since 2026-01-10T11:59:48Z only'),
        since: NOW - 12_000,
        until: NOW + 18_000,
      },
    ],
    requeueAt: NOW + 18_000,
  });
  expect(plan(fleet({ a: {} }, since(12)), POLICY, NOW).verdicts[0]?.message).toMatch(
    /^ruled by the controller's variables since/,
  );
  expect(started(fleet({ a: {} }, { policies, ...since(30) }))).toEqual(['a']);
});

test('others start meanwhile, and the place is theirs', () => {
  expect(started(fleet({ a: {}, b: {} }, since(12)))).toEqual(['b']);
});

test('what is staged waits, in service, and is not disturbed by the rules of a moment', () => {
  const world = fleet({ a: staged }, { permits: [permit('a')], ...since(12) });
  const { commands, verdicts, requeueAt } = plan(world, POLICY, NOW);
  expect([commands, verdicts[0]?.reason, requeueAt]).toEqual([[], 'NewlyRuled', NOW + 18_000]);
});

test('what is back waits for the checks that the policy of its permit may have, and goes on once that is gone for 30 s', () => {
  const permits = [{ ...permit('a'), policy: { name: 'gone', uid: 'gone' } }];
  const world = fleet({ a: monitoring(-600) }, { permits, ...since(12) });
  const kinds = (now: number) => plan(world, POLICY, now).commands.map(({ kind }) => kind);
  expect([kinds(NOW), plan(world, POLICY, NOW).requeueAt]).toEqual([[], NOW + 18_000]);
  expect(kinds(NOW + 18_000)).toEqual(['set-spec']);
});
