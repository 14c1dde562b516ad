import { describe, expect, test } from '@jest/globals';
import { ownShadow } from '../../runtime/controller/writing/actions/ports.ts';
import { viewOfAgent, viewOfNode, viewOfShadow } from '../../runtime/controller/seeing/views.ts';
import type { Collection } from '../../runtime/kube/collection.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import type { Condition, Node, Pod } from '../../runtime/kube/objects.ts';
import {
  LAST_UPDATE_FINISHED_ANNOTATION,
  MANAGED_LABEL,
  ASKED_FOR_ANNOTATION,
  MOVED_NOBODY_ANNOTATION,
} from '../../runtime/api/shadow/names.ts';

const META = { name: 'a', uid: 'uid-a', resourceVersion: '1' };
const node = (status: Node['status'], labels: Record<string, string> = {}): Node => ({
  metadata: { ...META, labels },
  ...(status && { status }),
});
const ready = (status: Condition['status']): Node => node({ conditions: [{ type: 'Ready', status }] });

describe('a node', () => {
  test('is Ready where its kubelet says so, and not where nobody has heard of it', () => {
    const seen = [ready('True'), ready('False'), ready('Unknown'), node({ conditions: [] }), node(undefined)];
    expect(seen.map((one) => viewOfNode(one).ready)).toEqual([true, false, false, false, false]);
  });

  test('is managed with the version of the interface that its label must name, and with no other', () => {
    const labelled = (value: string): boolean => viewOfNode(node({}, { [MANAGED_LABEL]: value })).managed;
    expect(['2.0.0', '1.0.0', ''].map(labelled)).toEqual([true, false, false]);
  });
});

test.each<[string, Partial<Node['metadata']>, Node['spec'], boolean]>([
  ['that stays', {}, { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] }, false],
  ['that is being deleted', { deletionTimestamp: '2026-01-10T12:00:00Z' }, {}, true],
  ['that Karpenter disrupts', {}, { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] }, true],
  ['that an older Karpenter does', {}, { taints: [{ key: 'karpenter.sh/disruption', effect: 'NoSchedule' }] }, true],
  ['with an autoscaler', {}, { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] }, true],
])('a node %s', (_what, metadata, spec, leaves) => {
  expect(viewOfNode({ metadata: { ...META, ...metadata }, ...(spec && { spec }) }).leaving === true).toBe(leaves);
});

describe('null is absence', () => {
  const nulls = null as unknown as undefined;

  test('of a node', () => {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: null }] as const;
    const bare = { metadata: { ...META, labels: nulls, annotations: nulls, creationTimestamp: null } };
    const view = viewOfNode({ ...bare, status: { conditions } } as unknown as Node);
    expect(view).toMatchObject({ ready: true, managed: false, held: false, readinessStatedAt: undefined });
    expect(viewOfNode({ ...bare, spec: nulls, status: nulls } as unknown as Node).ready).toBe(false);
  });

  test('of the pod of an agent', () => {
    const of = (status: object | null): unknown => {
      const { running, stoppedAt } = viewOfAgent({ metadata: META, status } as Pod);
      return [running, stoppedAt];
    };
    const terminated = { finishedAt: null };
    expect(
      of({ containerStatuses: [{ name: 'agent', state: { running: null, terminated }, lastState: null }] }),
    ).toEqual([false, undefined]);
    expect(of({ containerStatuses: [{ name: 'agent', state: null, lastState: { terminated } }] })).toEqual([
      false,
      undefined,
    ]);
    expect(of({ containerStatuses: nulls })).toEqual([false, undefined]);
    expect(of(null)).toEqual([false, undefined]);
  });

  test('of a shadow', () => {
    const metadata = { ...META, annotations: nulls, ownerReferences: nulls };
    const shadow = { metadata, spec: { state: 'Idle' }, status: null } as unknown as ShadowObject;
    expect(viewOfShadow(shadow)).toMatchObject({ status: undefined, owners: [], lastUpdateMs: undefined });
  });
});

const AT_REST = { current_version: '1.0.0', target_version: '1.1.0', current_state: 'Idle', crash_count: 0 } as const;

test('that an update moved nobody is said of that end alone: an older controller writes the next one, and leaves it there', () => {
  const movedNobody = (annotations: Record<string, string>, failedAt: string | null = null) => {
    const status = { ...AT_REST, state_transition_failure_timestamp: failedAt };
    return viewOfShadow({ metadata: { ...META, annotations }, spec: { state: 'Idle' }, status }).movedNobody;
  };
  const [one, next] = ['2026-01-10T12:00:00Z', '2026-01-10T13:00:00Z'];
  const marked = { [MOVED_NOBODY_ANNOTATION]: one };
  expect(movedNobody({ ...marked, [LAST_UPDATE_FINISHED_ANNOTATION]: one })).toBe(true);
  expect(movedNobody({ ...marked, [LAST_UPDATE_FINISHED_ANNOTATION]: next })).toBeUndefined();
  expect(movedNobody({ ...marked, [LAST_UPDATE_FINISHED_ANNOTATION]: one }, next)).toBeUndefined();
  expect(movedNobody(marked, one)).toBe(true);
  expect(movedNobody({})).toBeUndefined();
});

test('that somebody has asked for the update of a shadow is what its start has left there', () => {
  const isAskedFor = (annotations: Record<string, string>) =>
    viewOfShadow({ metadata: { ...META, annotations }, spec: { state: 'Idle' }, status: AT_REST }).isAskedFor;
  expect([isAskedFor({ [ASKED_FOR_ANNOTATION]: 'ann' }), isAskedFor({})]).toEqual([true, undefined]);
});

test('a time that cannot be read is no time', () => {
  const leap = { type: 'Ready', status: 'True', lastTransitionTime: '2016-12-31T23:59:60Z' } as const;
  expect(viewOfNode(node({ conditions: [leap] })).readinessStatedAt).toBeUndefined();
});

test('the shadow of a former node of the name, or of nobody, is not the one of this node', async () => {
  const owned = (...uids: readonly string[]): Pick<Collection<ShadowObject>, 'get'> => ({
    get: () =>
      Promise.resolve({
        metadata: {
          ...META,
          ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Node', name: 'a', uid })),
        },
        spec: { state: 'Idle' as const },
      }),
  });
  const found = (port: Pick<Collection<ShadowObject>, 'get'>): Promise<boolean> =>
    ownShadow(
      { shadows: port as Collection<ShadowObject> },
      { shadow: 'brs-a', nodeUid: 'uid-a' },
      new AbortController().signal,
    ).then((shadow) => shadow !== undefined);
  expect(await Promise.all([owned('uid-a'), owned('uid-former'), owned()].map(found))).toEqual([true, false, false]);
});
