import { expect, test } from '@jest/globals';
import { leftoversIn } from '../../runtime/cli/commands/leftovers.ts';
import { meanwhileText } from '../../runtime/cli/output/output.ts';
import { membersOf } from '../../runtime/cli/status/members.ts';
import { ARRIVING_KEY } from '../../runtime/api/marks/taints.ts';
import { fleet, moment, monitoring, NOW, plan, POLICY, permit, underRules } from '../controller/plan/fleet.ts';

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

test('a node that waits for what its drain has moved is settling in status and on the page too, as its verdict says', () => {
  const owner = { kind: 'ReplicaSet', namespace: 'shop', name: 'web', uid: 'u', ready: 3 };
  const displaced = { owners: [owner], looked_at: moment(-1), missing: ['ReplicaSet shop/web: 1 of 3 ready'] };
  const back = monitoring();
  const world = fleet({ a: { ...back, status: { ...back.status, displaced } } }, { permits: [permit('a')] });
  const seen = { snapshot: underRules(world, POLICY), plan: plan(world, POLICY, NOW), permitsKnown: true };
  expect(membersOf(seen)).toMatchObject([{ verdict: { reason: 'WorkloadsNotBack' }, step: 'settling' }]);
});
