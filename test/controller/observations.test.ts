import { expect, test } from '@jest/globals';
import { Observations } from '../../runtime/controller/observations.ts';
import type { NodeFacts, ShadowFacts } from '../../runtime/controller/views.ts';
import { DRAINED, minutes, node, rebooting, shadow } from './plan/fleet.ts';

const nodeFacts = (more: Partial<NodeFacts> = {}): NodeFacts => ({
  ...node('a'),
  readinessStatedAt: minutes(-60),
  ...more,
});
const shadowFacts = (more: Partial<ShadowFacts> = {}): ShadowFacts => ({
  ...shadow('a', rebooting),
  finishStatedAt: undefined,
  ...more,
});

/** What is made of each pair in turn, a minute apart. */
function looks(pairs: readonly (readonly [NodeFacts, ShadowFacts])[]) {
  const observations = new Observations();
  return pairs.map(([on, its], minute) => {
    const nodes = observations.nodes([on], minutes(minute));
    return { node: nodes[0]!, shadow: observations.shadows([its], nodes, minutes(minute))[0]! };
  });
}

test('what is as it was is counted on from, whatever else has changed', () => {
  const drained = nodeFacts({ marks: DRAINED });
  const seen = looks([
    [drained, shadowFacts()],
    [drained, shadowFacts()],
    [nodeFacts({ marks: DRAINED, held: true }), shadowFacts({ resourceVersion: '101' })],
  ]);
  for (const look of seen) {
    expect(look.node.readinessSeenAt).toBe(minutes(0));
    expect(look.shadow).toMatchObject({ stateSeenAt: minutes(0), rebootAskedAt: minutes(0) });
  }
});

test('what went and came back between two looks begins anew', () => {
  const seen = looks([
    [nodeFacts({ ready: false }), shadowFacts()],
    [nodeFacts({ ready: false, readinessStatedAt: minutes(-59) }), shadowFacts()],
  ]);
  expect(seen.map((look) => look.node.readinessSeenAt)).toEqual([minutes(0), minutes(1)]);
});

test('each state, and each version that it leads to, begins anew', () => {
  const spec = (version: string): Partial<ShadowFacts> => ({ spec: { state: 'RebootedIntoUpdate', version } });
  const seen = looks([
    [nodeFacts(), shadowFacts(spec('1.1.0'))],
    [nodeFacts(), shadowFacts(spec('1.2.0'))],
  ]);
  expect(seen.map((look) => look.shadow.stateSeenAt)).toEqual([minutes(0), minutes(1)]);
});

test('nothing is made anew of what has not changed', () => {
  const [on, its] = [nodeFacts(), shadowFacts()];
  const [first, second] = looks([
    [on, its],
    [on, its],
  ]);
  expect([second!.node, second!.shadow]).toEqual([first!.node, first!.shadow]);
  expect(second!.node).toBe(first!.node);
  expect(second!.shadow).toBe(first!.shadow);
});
