import { expect, test } from '@jest/globals';
import { leftoversIn } from '../../runtime/cli/commands/leftovers.ts';
import { meanwhileText } from '../../runtime/cli/output/output.ts';
import { ARRIVING_KEY } from '../../runtime/api/marks/taints.ts';
import { fleet, NOW, plan, POLICY } from '../controller/plan/fleet.ts';

/** What commands and the page say of nodes while they wait. */

test('that no pod comes, what is prepared, and that new pods prefer others, in that order', () => {
  const ahead = { version: '1.1.0', isStaged: true };
  expect(meanwhileText({ isArriving: true, ahead, isAvoided: true })).toBe(
    'arriving: no pod comes yet, 1.1.0 is staged ahead, new pods prefer other nodes',
  );
  expect(meanwhileText({})).toBeUndefined();
});

test('a machine that has arrived and bears its taint still is a leftover, with the command that takes it away', () => {
  const snapshot = fleet({ a: { status: { target_version: '1.0.0' } } });
  const [node] = snapshot.nodes;
  const world = { ...snapshot, nodes: [{ ...node!, signs: [`taint ${ARRIVING_KEY}`] }] };
  const config = { ARRIVING_TAINT: ARRIVING_KEY, NODE_LIFECYCLE_CONDITIONS: 'none' } as const;
  expect(leftoversIn({ config, snapshot: world, plan: plan(world, POLICY, NOW) })).toEqual([
    {
      node: 'a',
      whose: 'ours',
      what: `taint ${ARRIVING_KEY}: the controller takes it away, and so does kubectl taint node a ${ARRIVING_KEY}-`,
    },
  ]);
});
