import { describe, expect, test } from '@jest/globals';
import type { Node, Pod } from '../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { breaches } from './invariants.ts';
import type { Sighting } from './sighting.ts';

const OURS = `system:serviceaccount:${NAMESPACE}:brupop-apiserver-service-account`;

interface NodeState {
  readonly marked?: boolean;
  /** Text of the marks that it bears. */
  readonly marks?: string;
  readonly cordoned?: boolean;
  readonly gone?: boolean;
  readonly by?: string;
}

/** A node as it was at a resourceVersion. */
function node(name: string, version: number, { marked, marks, cordoned, gone = false, by }: NodeState): Sighting {
  const text = marks ?? (marked ? '{}' : undefined);
  const annotations = text === undefined ? {} : { [MARKS_ANNOTATION]: text };
  const object: Node = {
    metadata: { name, uid: `uid of ${name}`, resourceVersion: String(version), annotations },
    spec: { ...(cordoned && { unschedulable: true }) },
  };
  return { atMs: version, object, gone, ...(by !== undefined && { by }) };
}

describe('nodes that bear marks at once', () => {
  test('are seen, in whatever order they were told', () => {
    const told = [node('n2', 11, { marked: true }), node('n1', 10, { marked: true }), node('n1', 12, {})];
    expect(breaches(told, [], {})).toEqual(['marked at once: n1, n2']);
  });

  test('are as many as may be', () => {
    const told = [node('n1', 10, { marked: true }), node('n2', 11, { marked: true })];
    expect(breaches(told, [], { concurrency: 2 })).toEqual([]);
  });

  test('are one where they bear them one after the other, or where one is gone with its marks', () => {
    const given = [node('n1', 10, { marked: true }), node('n1', 11, {}), node('n2', 12, { marked: true })];
    const gone = [
      node('n1', 10, { marked: true }),
      node('n1', 11, { marked: true, gone: true }),
      node('n2', 12, { marked: true }),
    ];
    expect(breaches(given, [], {})).toEqual([]);
    expect(breaches(gone, [], {})).toEqual([]);
  });
});

describe('a cordon', () => {
  const cordonedBy = (author: string | undefined, end: NodeState): readonly string[] =>
    breaches(
      [node('n1', 10, { cordoned: true, ...(author !== undefined && { by: author }) }), node('n1', 12, end)],
      [],
      {},
    );

  test('of an administrator must not be taken away by the operator', () => {
    expect(cordonedBy('admin', { by: OURS })).toEqual([`n1: the cordon of admin was taken away by ${OURS}`]);
  });

  test('stays that of its author, even if others write the node meanwhile', () => {
    const told = [
      node('n1', 10, { cordoned: true, by: 'admin' }),
      node('n1', 11, { cordoned: true, by: OURS, marked: true }),
      node('n1', 12, { by: OURS }),
    ];
    expect(breaches(told, [], {})).toHaveLength(1);
  });

  test('is seen with its author, also where a watch saw it too', () => {
    const told = [node('n1', 10, { cordoned: true }), node('n1', 10, { cordoned: true, by: 'admin' })];
    expect(breaches([...told, node('n1', 12, { by: OURS })], [], {})).toHaveLength(1);
  });

  test('may be removed by its author, with the node, or by an administrator', () => {
    expect(cordonedBy('admin', { by: 'another' })).toEqual([]);
    expect(cordonedBy(OURS, { by: OURS })).toEqual([]);
    expect(cordonedBy('admin', { by: OURS, gone: true })).toEqual([]);
    expect(cordonedBy(undefined, { by: OURS })).toEqual([]);
  });
});

describe('a node that goes down at 100 ms', () => {
  interface PodState {
    readonly nodeName?: string;
    readonly phase?: string;
    readonly gone?: boolean;
    readonly metadata?: object;
    readonly tolerations?: readonly object[];
  }
  const pod = (
    atMs: number,
    { nodeName = 'n1', phase, gone = false, metadata = {}, tolerations = [] }: PodState = {},
  ): Sighting => {
    const object = {
      metadata: { name: 'p', namespace: 'shop', uid: 'p', resourceVersion: String(atMs), ...metadata },
      spec: { nodeName, containers: [], tolerations },
      status: { phase },
    } as Pod;
    return { atMs, object, gone };
  };
  const under = (...pods: readonly Sighting[]): readonly string[] => breaches(pods, [{ node: 'n1', atMs: 100 }], {});

  const DAEMON_SET = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' };

  test('must be empty of pods that a DaemonSet owns but does not control', () => {
    expect(under(pod(10, { metadata: { ownerReferences: [DAEMON_SET] } }))).toHaveLength(1);
  });

  test('must be empty', () => {
    expect(under(pod(10))).toEqual(['n1 went down under shop/p']);
    expect(under(pod(10), pod(101, { gone: true }))).toHaveLength(1);
  });

  test('is empty of what was gone, had finished, came later or was elsewhere', () => {
    expect(under(pod(10), pod(99, { gone: true }), pod(120, { gone: true }))).toEqual([]);
    expect(under(pod(10), pod(99, { phase: 'Succeeded' }))).toEqual([]);
    expect(under(pod(101))).toEqual([]);
    expect(under(pod(10, { nodeName: 'n2' }))).toEqual([]);
  });

  test('keeps what no drain moves, and what was said to stay', () => {
    expect(under(pod(10, { metadata: { ownerReferences: [{ ...DAEMON_SET, controller: true }] } }))).toEqual([]);
    expect(under(pod(10, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }))).toEqual([]);
    expect(breaches([pod(10)], [{ node: 'n1', atMs: 100 }], { stays: () => true })).toEqual([]);
  });

  test('keeps what tolerates its cordon and was created since its drain began, and nothing else that was', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }];
    const created = (second: number): object => ({ creationTimestamp: `2026-01-01T00:00:0${second}Z` });
    const [before, since] = [{ metadata: created(5) }, { metadata: created(6) }];
    const drained = node('n1', 50, { cordoned: true, marks: '{"newestPod":"2026-01-01T00:00:05Z"}' });
    expect(under(drained, pod(40, { ...since, tolerations }))).toEqual([]);
    expect(under(drained, pod(60, { ...before, tolerations }))).toHaveLength(1);
    expect(under(drained, pod(60, since))).toHaveLength(1);
    expect(under(pod(60, { ...since, tolerations }))).toHaveLength(1);
    expect(under(drained, node('n1', 55, {}), pod(60, { ...since, tolerations }))).toHaveLength(1);
  });
});
