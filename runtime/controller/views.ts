import type { Node, Pod } from '../kube/objects.ts';
import type { ShadowObject } from '../kube/shadows.ts';
import { readMarks } from '../marks/marks.ts';
import { UNRELEASED_ANNOTATION } from '../marks/names.ts';
import {
  ADOPTED_ANNOTATION,
  HOLD_ANNOTATION,
  LAST_UPDATE_ANNOTATION,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  shadowName,
} from '../shadow/names.ts';
import { ownersOf } from '../shadow/owner.ts';
import type { NodeView, ShadowView } from './plan/snapshot.ts';

/** Objects of the API server as `plan` sees them: everything else about them is let go at once. */

export function viewOfNode(node: Node): NodeView {
  const { name, uid, labels = {}, annotations = {} } = node.metadata;
  return {
    name,
    uid,
    shadowName: shadowName(name),
    managed: labels[MANAGED_LABEL] === MANAGED_LABEL_VALUE,
    joinable: annotations[ADOPTED_ANNOTATION] === undefined && isBottlerocket(node),
    held: annotations[HOLD_ANNOTATION] !== undefined,
    unschedulable: node.spec?.unschedulable === true,
    ...readinessOf(node),
    family: familyOf(node),
    bootId: node.status?.nodeInfo?.bootID,
    marks: readMarks(node),
    unreleased: annotations[UNRELEASED_ANNOTATION],
  };
}

function isBottlerocket({ status }: Node): boolean {
  return status?.nodeInfo?.osImage?.startsWith('Bottlerocket') === true;
}

function readinessOf({ metadata, status }: Node): Pick<NodeView, 'ready' | 'readyChangedAt'> {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  const changed = condition?.lastTransitionTime ?? metadata.creationTimestamp;
  return { ready: condition?.status === 'True', readyChangedAt: changed === undefined ? 0 : Date.parse(changed) };
}

/** The variant stands in parentheses in the name of the image, e.g. `Bottlerocket OS 1.38.0 (aws-k8s-1.33)`. */
function familyOf({ metadata, status }: Node): string {
  const variant = /\(([^)]*)\)/.exec(status?.nodeInfo?.osImage ?? '')?.[1] ?? '';
  return `${variant}/${metadata.labels?.['kubernetes.io/arch'] ?? ''}`;
}

/** A shadow as it was read; what the controller knows of it besides is added when a plan is made. */
export type ShadowFacts = Omit<ShadowView, 'stale' | 'offeredAt'>;

export function viewOfShadow({ metadata, spec, status }: ShadowObject): ShadowFacts {
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    owners: ownersOf({ metadata }),
    spec,
    status: status ?? undefined,
    lastUpdateMs: lastUpdateMs(metadata),
  };
}

function lastUpdateMs({ annotations }: ShadowObject['metadata']): number | undefined {
  const text = annotations?.[LAST_UPDATE_ANNOTATION] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}

export interface AgentView {
  readonly node: string;
  readonly running: boolean;
  /** When its container ended, where the kubelet says so. */
  readonly stoppedAt: number | undefined;
}

export function viewOfAgent({ spec, status }: Pod): AgentView {
  const containers = status?.containerStatuses ?? [];
  const ends = containers.map(
    ({ state, lastState }) => state?.terminated?.finishedAt ?? lastState?.terminated?.finishedAt,
  );
  const stops = ends.filter((end) => end !== undefined).map((end) => Date.parse(end));
  return {
    node: spec?.nodeName ?? '',
    running: isAgentRunning(containers),
    stoppedAt: stops.length > 0 ? Math.max(...stops) : undefined,
  };
}

function isAgentRunning(containers: NonNullable<NonNullable<Pod['status']>['containerStatuses']>): boolean {
  return containers.some(({ state }) => state?.running !== undefined);
}
