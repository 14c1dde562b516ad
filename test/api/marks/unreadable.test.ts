import { describe, expect, test } from '@jest/globals';
import { nodeFields } from '../../../runtime/apiserver/node-fields.ts';
import { type MarkedNode, readMarks } from '../../../runtime/api/marks/marks.ts';
import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  MARKS_ANNOTATION,
  UNRELEASED_ANNOTATION,
  UPDATING_LABEL,
} from '../../../runtime/api/marks/names.ts';
import { removeExclusionPatch } from '../../../runtime/api/marks/patches.ts';
import { apply, bare, cordoned, node, released } from './marked.ts';

describe('a release of marks that nobody can read', () => {
  const hints = { [CLUSTER_AUTOSCALER_ANNOTATION]: 'true', [KARPENTER_ANNOTATION]: 'true' };
  const labels = { [LB_LABEL]: 'True', [UPDATING_LABEL]: 'true' };
  const garbled = (text: string): MarkedNode =>
    node({ unschedulable: true, labels, annotations: { ...hints, [MARKS_ANNOTATION]: text } });
  const noted = { [UNRELEASED_ANNOTATION]: 'unreadable' };

  test('undoes what only the operator writes, and notes that it cannot know the rest', () => {
    expect(bare(released(garbled('{"owns":')))).toEqual({
      labels: {},
      annotations: { ...hints, ...noted },
      spec: { unschedulable: true },
    });
  });

  test('undoes what the API server says that the apiserver was the last to change', () => {
    const changed = (manager: string, ...annotations: readonly string[]) => ({
      manager,
      fieldsV1: {
        'f:metadata': { 'f:annotations': Object.fromEntries(annotations.map((key) => [`f:${key}`, {}])) },
        ...(manager === 'brupop-apiserver' && { 'f:spec': { 'f:unschedulable': {} } }),
      },
    });
    const { metadata, ...rest } = garbled('[]');
    const managedFields = [
      changed('brupop-apiserver', KARPENTER_ANNOTATION),
      changed('kubectl-edit', CLUSTER_AUTOSCALER_ANNOTATION, MARKS_ANNOTATION),
    ];
    const before = nodeFields({ ...rest, metadata: { ...metadata, managedFields } });
    expect(bare(released(before))).toEqual({
      labels: {},
      annotations: { [CLUSTER_AUTOSCALER_ANNOTATION]: 'true', ...noted },
      spec: {},
    });
  });

  test('undoes what they own, where that can be read', () => {
    const text = JSON.stringify({ id: 7, since: 'x', boot: null, owns: ['cordon', 'karpenter'] });
    expect(readMarks(garbled(text))).toMatchObject({ id: '', since: null });
    expect(bare(released(garbled(text)))).toMatchObject({
      annotations: { [CLUSTER_AUTOSCALER_ANNOTATION]: 'true' },
      spec: {},
    });
  });

  test('still notes it where a drain, or the end of an exclusion, has written marks anew', () => {
    const again = cordoned(garbled('{"owns":'));
    expect(readMarks(again)).toMatchObject({ id: 'a1', owns: ['lb'], unknown: ['unreadable'] });
    expect(released(again).metadata.annotations).toMatchObject(noted);
    const included = apply(garbled('x'), removeExclusionPatch(garbled('x')));
    expect(readMarks(included)).toMatchObject({ id: '', unknown: ['unreadable'] });
  });
});
