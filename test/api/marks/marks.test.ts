import { describe, expect, test } from '@jest/globals';
import { type MarkedNode, readMarks } from '../../../runtime/api/marks/marks.ts';
import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  MARKS_ANNOTATION,
  UNRELEASED_ANNOTATION,
  UPDATING_LABEL,
} from '../../../runtime/api/marks/names.ts';
import {
  cordonPatch,
  disownCordonPatch,
  drainedPatch,
  excludeFromLbPatch,
  type NodePatch,
  releasePatch,
  removeExclusionPatch,
} from '../../../runtime/api/marks/patches.ts';
import { HOLD_ANNOTATION } from '../../../runtime/api/shadow/names.ts';
import { apply, attempt, bare, cordoned, node, released } from './marked.ts';

describe('a drain of a plain node', () => {
  test('cordons it, marks it and asks the autoscalers to leave it', () => {
    const after = cordoned(node());
    expect(after.spec?.unschedulable).toBe(true);
    expect(after.metadata.labels).toEqual({ [UPDATING_LABEL]: 'true' });
    expect(after.metadata.annotations).toMatchObject({
      [CLUSTER_AUTOSCALER_ANNOTATION]: 'true',
      [KARPENTER_ANNOTATION]: 'true',
    });
    expect(readMarks(after)).toEqual({
      id: 'a1',
      since: attempt.now,
      boot: 'boot-1',
      owns: ['cordon', 'cluster-autoscaler', 'karpenter'],
    });
  });

  test('and its release leave the node as it was', () => {
    const before = node({ labels: { zone: 'a' }, annotations: { note: 'x' } });
    expect(bare(released(cordoned(before)))).toEqual(bare(before));
  });
});

describe('what somebody else did before', () => {
  test('stays: their cordon', () => {
    const after = cordoned(node({ unschedulable: true }));
    expect(readMarks(after)?.owns).not.toContain('cordon');
    expect(released(after).spec?.unschedulable).toBe(true);
  });

  test('stays: their autoscaler annotations, whatever their value', () => {
    const annotations = { [CLUSTER_AUTOSCALER_ANNOTATION]: 'false', [KARPENTER_ANNOTATION]: 'true' };
    expect(released(cordoned(node({ annotations }))).metadata.annotations).toEqual(annotations);
  });

  test('stays: their load balancer exclusion', () => {
    const before = node({ labels: { [LB_LABEL]: 'mine' } });
    expect(excludeFromLbPatch(before, attempt)).toBeUndefined();
    expect(removeExclusionPatch(cordoned(before))).toBeUndefined();
    expect(released(cordoned(before)).metadata.labels).toEqual({ [LB_LABEL]: 'mine' });
  });
});

describe('a second drain', () => {
  test('of the same boot joins the first, and writes nothing', () => {
    expect(cordonPatch(cordoned(node()), { ...attempt, id: 'a2', now: '2026-01-01T01:00:00Z' })).toBeUndefined();
  });

  test('by an agent that does not state its boot joins too, and the marks state no boot any more', () => {
    const unsaid = { ...attempt, id: 'a2', now: '2026-01-01T01:00:00Z', boot: null };
    const again = cordoned(cordoned(node()), unsaid);
    expect(readMarks(again)).toEqual({ ...readMarks(cordoned(node())), boot: null });
    expect(cordonPatch(again, unsaid)).toBeUndefined();
    expect(cordonPatch(again, { ...attempt, id: 'a3' })).toBeUndefined();
  });

  test('of another boot starts its own deadline but keeps what is owned', () => {
    const again = cordoned(cordoned(node()), { id: 'a2', now: '2026-01-01T01:00:00Z', boot: 'boot-2' });
    expect(readMarks(again)).toMatchObject({ id: 'a2', since: '2026-01-01T01:00:00Z', boot: 'boot-2' });
    expect(bare(released(again))).toEqual(bare(node()));
  });

  test('after somebody uncordoned cordons again under the same id and forgets that the node was empty', () => {
    const drained = apply(cordoned(node()), drainedPatch(cordoned(node()), 'a1', { id: 'p1', now: 'then' }));
    const opened: MarkedNode = { ...drained, spec: {} };
    const again = cordoned(opened, { id: 'a2' });
    expect(readMarks(again)).toMatchObject({ id: 'a1' });
    expect(readMarks(again)).not.toHaveProperty('drained');
    expect(again.spec?.unschedulable).toBe(true);
  });
});

describe('the proof that a node is empty', () => {
  const after = cordoned(node());
  test('is written under its own id on a cordoned node', () => {
    expect(readMarks(apply(after, drainedPatch(after, 'a1', { id: 'p1', now: 'then' })))).toMatchObject({
      id: 'a1',
      drained: 'then',
    });
  });
  test('changes the node each time, even within a second, so that an earlier decision is a conflict', () => {
    const first = apply(after, drainedPatch(after, 'a1', { id: 'p1', now: 'then' }));
    const again = apply(first, drainedPatch(first, 'a1', { id: 'p2', now: 'then' }));
    const third = apply(again, drainedPatch(again, 'a1', { id: 'p3', now: 'then' }));
    expect(new Set([first, again, third].map(({ metadata }) => JSON.stringify(metadata.annotations))).size).toBe(3);
  });
  test.each<[string, MarkedNode, string]>([
    ['under another id', after, 'a2'],
    ['without marks', node({ unschedulable: true }), 'a1'],
    ['without a cordon', { ...after, spec: {} }, 'a1'],
  ])('is refused %s', (_, subject, id) => expect(drainedPatch(subject, id, { id: 'p1', now: 'then' })).toBeUndefined());
});

describe('exclusion from load balancers', () => {
  const excluded = apply(node(), excludeFromLbPatch(node(), attempt));
  test('marks the node before any drain', () => {
    expect(excluded.metadata.labels).toEqual({ [LB_LABEL]: 'True' });
    expect(readMarks(excluded)).toEqual({ id: 'a1', since: null, boot: 'boot-1', owns: ['lb'] });
  });
  test('is not written twice', () => expect(excludeFromLbPatch(excluded, attempt)).toBeUndefined());
  test('alone is undone to the last trace', () => {
    expect(bare(apply(excluded, removeExclusionPatch(excluded)))).toEqual(bare(node()));
  });
  test('under a drain is undone without touching the drain', () => {
    const draining = cordoned(excluded, { id: 'a2', now: '2026-01-01T00:05:00Z' });
    expect(readMarks(draining)).toMatchObject({
      id: 'a2',
      since: '2026-01-01T00:05:00Z',
      owns: expect.arrayContaining(['lb', 'cordon']),
    });
    const after = apply(draining, removeExclusionPatch(draining));
    expect(after.metadata.labels).toEqual({ [UPDATING_LABEL]: 'true' });
    expect(readMarks(after)?.owns).not.toContain('lb');
    expect(after.spec?.unschedulable).toBe(true);
  });
  test('goes with a release', () => {
    expect(bare(released(cordoned(excluded)))).toEqual(bare(node()));
  });
});

describe('a field that somebody else has changed since', () => {
  const changed = (before: MarkedNode): MarkedNode => ({
    ...before,
    metadata: {
      ...before.metadata,
      labels: { ...before.metadata.labels, [LB_LABEL]: 'maintenance' },
      annotations: { ...before.metadata.annotations, [KARPENTER_ANNOTATION]: 'mine' },
    },
  });
  const marked = (): MarkedNode => changed(apply(cordoned(node()), excludeFromLbPatch(cordoned(node()), attempt)));

  test('stays when the exclusion ends, and is no longer ours', () => {
    const after = apply(marked(), removeExclusionPatch(marked()));
    expect(after.metadata.labels?.[LB_LABEL]).toBe('maintenance');
    expect(readMarks(after)?.owns).not.toContain('lb');
  });

  test('stays at the release, which takes everything else of ours', () => {
    const after = apply(marked(), releasePatch(marked()));
    expect(after.metadata.labels).toEqual({ [LB_LABEL]: 'maintenance' });
    expect(after.metadata.annotations).toEqual({ [KARPENTER_ANNOTATION]: 'mine' });
    expect(after.spec?.unschedulable).not.toBe(true);
  });
});

describe('release', () => {
  test('of a held node hands the cordon to the administrator', () => {
    const after = released(cordoned(node({ annotations: { [HOLD_ANNOTATION]: 'true' } })));
    expect(after.spec?.unschedulable).toBe(true);
    expect(readMarks(after)).toBeUndefined();
    expect(releasePatch(after)).toBeUndefined();
  });
});

describe('marks with an entry that this version does not know, as a newer one that was rolled back left them', () => {
  const ours = node({ labels: { zone: 'a' } });
  const newer = (before: MarkedNode): MarkedNode => {
    const marks = JSON.parse(before.metadata.annotations?.[MARKS_ANNOTATION] ?? '') as { owns: string[] };
    const text = JSON.stringify({ ...marks, owns: ['shutdown-taint', ...marks.owns] });
    return {
      ...before,
      metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, [MARKS_ANNOTATION]: text } },
    };
  };
  const kept = { [UNRELEASED_ANNOTATION]: 'shutdown-taint' };

  test('are undone as far as they are known, and the rest is kept where it is no mark', () => {
    const after = released(newer(cordoned(ours)));
    expect(readMarks(after)).toBeUndefined();
    expect(bare(after)).toEqual({ labels: { zone: 'a' }, annotations: kept, spec: {} });
  });

  test('of an exclusion from load balancers alone, too', () => {
    const excluded = newer(apply(ours, excludeFromLbPatch(ours, attempt)));
    expect(bare(apply(excluded, removeExclusionPatch(excluded)))).toEqual({
      labels: { zone: 'a' },
      annotations: kept,
      spec: {},
    });
  });

  test('keep it through all that is written in between', () => {
    const steps: readonly ((before: MarkedNode) => NodePatch | undefined)[] = [
      (before) => excludeFromLbPatch(before, attempt),
      (before) => cordonPatch(before, { ...attempt, id: 'a2', boot: 'boot-2' }),
      (before) => drainedPatch(before, 'a2', { id: 'p1', now: 'then' }),
      (before) => removeExclusionPatch(before),
      (before) => disownCordonPatch({ ...before, spec: {} }),
    ];
    const marked = steps.reduce(
      (before, step) => {
        const patch = step(before);
        expect(patch).toBeDefined();
        return apply(before, patch);
      },
      newer(cordoned(ours)),
    );
    expect(released(marked).metadata.annotations).toEqual(kept);
  });

  test('add to what an earlier release has kept', () => {
    const before = newer(cordoned(node({ annotations: { [UNRELEASED_ANNOTATION]: 'dns, shutdown-taint' } })));
    expect(released(before).metadata.annotations).toEqual({ [UNRELEASED_ANNOTATION]: 'dns, shutdown-taint' });
  });
});

describe('a cordon that somebody took away', () => {
  test('is no longer ours', () => {
    const opened: MarkedNode = { ...cordoned(node()), spec: {} };
    const disowned = apply(opened, disownCordonPatch(opened));
    const theirs: MarkedNode = { ...disowned, spec: { unschedulable: true } };
    expect(released(theirs).spec?.unschedulable).toBe(true);
  });
  test('is not disowned while it stands', () => expect(disownCordonPatch(cordoned(node()))).toBeUndefined());
});
