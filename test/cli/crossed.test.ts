import { expect, test } from '@jest/globals';
import type { Crossed } from '../../runtime/api/shadow/crossed.ts';
import { forecastFrom } from '../../runtime/cli/forecast/forecast.ts';
import type { Inspection } from '../../runtime/cli/inspect.ts';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import { plan } from '../../runtime/controller/plan/plan.ts';
import { type Blocked, drains } from '../controller/plan/crossing.ts';
import { fleet, moment, NOW, permit, POLICY, underRules, UNPROVEN_TOO, type World } from '../controller/plan/fleet.ts';
import { inspected } from './inspected.ts';

/** What is foretold of drains that block each other. */

const RULES = { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;

function seen(world: World): Inspection {
  const snapshot = underRules(world, RULES);
  return inspected({
    snapshot,
    config: readControllerConfig({ MY_NODE_NAME: 'none' }),
    plan: plan(snapshot, RULES, { now: NOW }),
  });
}

test('both end: nobody has to do anything about them', () => {
  const a: Blocked = { waits: ['x'], holds: ['y'], stalled: -2 };
  const b: Blocked = { waits: ['y'], holds: ['x'], stalled: -2, since: -10 };
  expect(forecastFrom(seen(drains({ a, b }))).left).toEqual([]);
});

test('one that was called off starts once the other is done', () => {
  const crossed: Crossed = { node: 'a', attempt: 'attempt-a', budgets: ['shop/x', 'shop/y'], times: 1 };
  const spec = { state: 'Idle', version: '1.1.0', state_transition_timestamp: moment(-60) } as const;
  const { nodes, shadows } = drains({ a: { holds: ['y'] } });
  const waiting = fleet({ b: { spec, crossed } });
  const world = { ...waiting, nodes: [...nodes, ...waiting.nodes], shadows: [...shadows, ...waiting.shadows] };
  const { starts, left } = forecastFrom(seen({ ...world, permits: [permit('a')] }));
  expect([starts, left]).toMatchObject([[{ node: 'b' }], []]);
  expect(starts[0]?.at).toBeGreaterThan(NOW);
});
