import { expect, test } from '@jest/globals';
import { fleet, minutes, node, NOW, plan, POLICY, started, updated } from './fleet.ts';

/** Who takes a place without being updated. */

const two = fleet({ a: {}, b: {} });

test('a node that was never Ready is missed by nobody, and so is one that was cordoned an hour ago', () => {
  const booting = node('x', { ready: false, readyChangedAt: minutes(-1) });
  const cordoned = node('y', { unschedulable: true, outAt: minutes(-60) });
  expect(started({ ...two, nodes: [...two.nodes, booting, cordoned] })).toEqual(['a']);
  const known = fleet({ a: {}, b: {}, x: updated }, { nodes: [...two.nodes, booting] });
  expect(started(known)).toEqual([]);
});

test('a node that somebody else has out may itself be updated, in the place that it takes', () => {
  const out = node('a', { unschedulable: true, outAt: minutes(-1) });
  expect(started(fleet({ a: {}, b: {} }, { nodes: [out, node('b')] }))).toEqual(['a']);
});

test('who somebody else has out is told as such, and until when it takes a place', () => {
  const cordoned = node('x', { unschedulable: true, outAt: minutes(-59) });
  expect(plan({ ...two, nodes: [...two.nodes, cordoned] }, POLICY, NOW).budget.holders).toEqual([
    { node: 'x', because: 'Cordoned', until: minutes(1) },
  ]);
});
