import { expect } from '@jest/globals';
import type { MarkedNode } from '../../../runtime/api/marks/marks.ts';
import { type Attempt, cordonPatch, type NodePatch, releasePatch } from '../../../runtime/api/marks/patches.ts';

/** Nodes, and what patches of marks make of them. */

interface NodeParts {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  unschedulable?: boolean;
}

export function node({ labels = {}, annotations = {}, unschedulable = false }: NodeParts = {}): MarkedNode {
  return {
    metadata: { name: 'n1', uid: 'u1', resourceVersion: '7', labels, annotations },
    spec: unschedulable ? { unschedulable } : {},
  };
}

/** What the API server makes of a merge patch, for the fields that marks touch. */
export function apply(before: MarkedNode, patch: NodePatch | undefined): MarkedNode {
  if (!patch) return before;
  expect(patch.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  const merged = (
    old: Readonly<Record<string, string>> = {},
    change: Readonly<Record<string, string | null>> = {},
  ): Record<string, string> =>
    Object.fromEntries(
      Object.entries({ ...old, ...change }).filter((entry): entry is [string, string] => entry[1] !== null),
    );
  const unschedulable = patch.spec ? patch.spec.unschedulable === true : before.spec?.unschedulable === true;
  return {
    metadata: {
      ...before.metadata,
      resourceVersion: String(Number(before.metadata.resourceVersion) + 1),
      labels: merged(before.metadata.labels, patch.metadata.labels),
      annotations: merged(before.metadata.annotations, patch.metadata.annotations),
    },
    spec: unschedulable ? { unschedulable } : {},
  };
}

export const attempt = { id: 'a1', now: '2026-01-01T00:00:00Z', boot: 'boot-1' };
export const cordoned = (before: MarkedNode, changes: Partial<Attempt> = {}): MarkedNode =>
  apply(before, cordonPatch(before, { ...attempt, ...changes }));
export const released = (before: MarkedNode): MarkedNode => apply(before, releasePatch(before));
export const bare = ({ metadata: { labels, annotations }, spec }: MarkedNode): unknown => ({
  labels,
  annotations,
  spec,
});
