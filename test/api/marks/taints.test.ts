import { expect, test } from '@jest/globals';
import { bears, taintPatch, WAITING_TAINT } from '../../../runtime/api/marks/taints.ts';
import { node } from './marked.ts';

const OTHERS = [
  { key: 'example.com/gpu', value: 'a', effect: 'NoSchedule' },
  { key: WAITING_TAINT.key, effect: 'NoSchedule' },
];
const bearing = (...taints: readonly { readonly key: string; readonly effect: string }[]) => ({
  ...node(),
  spec: { taints },
});

test('comes beside the taints of others, and goes without them: one of its key with another effect is somebody else’s', () => {
  const put = taintPatch(bearing(...OTHERS), WAITING_TAINT, true);
  expect(put).toEqual({ metadata: { resourceVersion: '7' }, spec: { taints: [...OTHERS, WAITING_TAINT] } });
  const taken = taintPatch(bearing(...OTHERS, { ...WAITING_TAINT, value: 'x' } as never), WAITING_TAINT, false);
  expect(taken).toEqual({ metadata: { resourceVersion: '7' }, spec: { taints: OTHERS } });
});

test('the last one leaves no list, and where nothing is to be done nothing is written', () => {
  expect(taintPatch(bearing(WAITING_TAINT), WAITING_TAINT, false)?.spec).toEqual({ taints: null });
  expect(taintPatch(bearing(WAITING_TAINT), WAITING_TAINT, true)).toBeUndefined();
  expect(taintPatch(node(), WAITING_TAINT, false)).toBeUndefined();
  expect(bears({ spec: { taints: null } as never }, WAITING_TAINT)).toBe(false);
});
