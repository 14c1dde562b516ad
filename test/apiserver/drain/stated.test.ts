import { expect, test } from '@jest/globals';
import { statedReasons } from '../../../runtime/apiserver/drain/stated.ts';
import { progressOf } from '../../../runtime/apiserver/drain/words.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';

const pod = (name: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1', ...more },
});

const WEB = pod('web-1');
const OTHER = pod('other-web-1');
const REASONS = new Map([
  [WEB.metadata.uid, 'PodDisruptionBudget shop/web'],
  [OTHER.metadata.uid, 'refused with 500: no (pod x/y)'],
]);
const STATED = progressOf('2026-01-01T00:00:00Z', [WEB, OTHER], REASONS);

test('reasons are read back as they were stated, each for its own pod', () => {
  expect(statedReasons(STATED, [OTHER, WEB, pod('db-1')])).toEqual(REASONS);
});

test('nothing stands in the way of a pod that is ending', () => {
  expect(statedReasons(STATED, [pod('web-1', { deletionTimestamp: '2026-01-01T00:00:30Z' })])).toEqual(new Map());
});
