import type { ShadowObject } from '../../api/resources.ts';
import type { KubeObject, Node, Pod } from '../../kube/objects.ts';
import { instantOf } from '../../lib/clock.ts';
import { shortened } from '../../lib/parts.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { conditionSign, taintSign } from '../../api/policy/signs.ts';
import { askedIn, type Pause } from '../../api/shadow/asked.ts';
import {
  LAST_ATTEMPT_ANNOTATION,
  LAST_REBOOT_ANNOTATION,
  LAST_UPDATE_ANNOTATION,
  LAST_UPDATE_FINISHED_ANNOTATION,
  ASKED_FOR_ANNOTATION,
  MOVED_NOBODY_ANNOTATION,
  PAUSED_ANNOTATION,
  shadowName,
  UPDATED_FROM_ANNOTATION,
  VERSION_BEFORE_ANNOTATION,
} from '../../api/shadow/names.ts';
import { crossedIn } from '../../api/shadow/crossed.ts';
import { hintIn } from '../../api/shadow/hint.ts';
import { ownersOf } from '../../api/shadow/owner.ts';
import { familyOf, isSemver, versionOfOsImage } from '../../api/shadow/semver.ts';
import { decidedOn, type IsManaged } from './people.ts';
import { othersTaints, saidByTaints } from './taints.ts';
import { isLifecycle } from '../writing/lifecycle-conditions.ts';
import type { NodeView, ShadowView } from '../plan/facts/snapshot.ts';

/** Objects of the API server as plans see them. The caches keep nothing else of an object. */

/** A node as it was read. Its times are by the clocks of others, so `Observations` decides what they count as. */
export type NodeFacts = Omit<
  NodeView,
  'readyChangedAt' | 'readinessSeenAt' | 'readyFrom' | 'outAt' | 'wasReady' | 'unreadyAt'
> & {
  /** Since when it is cordoned, or about to be removed, as its taints say; undefined where they do not. */
  readonly outStatedAt?: number;

  /** Since when it is Ready, or not, as the cluster says; undefined where it does not. */
  readonly readinessStatedAt: number | undefined;
};

/**
 * Keeps one copy of each text that many objects share, such as label values and families. A text that is not met for a while is forgotten, so
 * that nodes which come and go leave nothing behind.
 */
export class SharedTexts {
  #recent = new Map<string, string>();
  /** The generation before. A text that is met again moves to `#recent`. */
  #older: ReadonlyMap<string, string> = new Map();

  of(text: string): string {
    const known = this.#recent.get(text);
    if (known !== undefined) return known;
    const kept = this.#older.get(text) ?? text;
    this.#recent.set(kept, kept);
    if (this.#recent.size === SHARED_TEXTS) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    return kept;
  }

  /** A copy that begins with the spread has the shape of the original, and is made several times as fast as one that is built up. */
  values(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const copy = { ...labels };
    for (const key of Object.keys(copy)) copy[key] = this.of(copy[key] ?? '');
    return copy;
  }
}

const SHARED_TEXTS = 2000;

/** @param texts of all nodes that are kept, which share them; `isOther` is what `managedBesides` returns */
export function viewOfNode(node: Node, texts = new SharedTexts(), isOther: IsManaged = () => false): NodeFacts {
  const { name, uid } = node.metadata;
  return {
    name,
    uid,
    shadowName: shadowName(name),
    labels: texts.values(node.metadata.labels ?? {}),
    createdAt: instantOf(node.metadata.creationTimestamp) ?? 0,
    ...decidedOn(node, isOther),
    unschedulable: node.spec?.unschedulable === true,
    ...saidByTaints(node),
    ...readinessOf(node),
    family: texts.of(familyOf(node)),
    version: versionOfOsImage(node.status?.nodeInfo?.osImage),
    bootId: node.status?.nodeInfo?.bootID,
    marks: readMarks(node),
    lifecycle: lifecycleOn(node),
    ...signsOn(node, texts),
  };
}

function lifecycleOn({ status }: Node): NodeView['lifecycle'] {
  const said = status?.conditions?.filter(isLifecycle) ?? [];
  if (said.length === 0) return undefined;
  return said.map(({ type, status: value, reason, message, lastTransitionTime }) => ({
    type,
    status: value,
    reason,
    message,
    lastTransitionTime,
  }));
}

/** Conditions that every kubelet writes, False on a healthy node. */
const USUAL: ReadonlySet<string> = new Set(
  ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'].map((type) => conditionSign(type, 'False')),
);

function signsOn({ spec, status }: Node, texts: SharedTexts): Pick<NodeView, 'signs' | 'conditionsAt'> {
  const conditions = (status?.conditions ?? []).filter((one) => one.type !== 'Ready' && !isLifecycle(one));
  const said = conditions.map((one) => conditionSign(one.type, one.status)).filter((sign) => !USUAL.has(sign));
  const signs = [...said, ...othersTaints(spec).map(({ key, effect }) => taintSign(key, effect))];
  const turns = conditions.flatMap(({ type, lastTransitionTime }) => {
    const at = instantOf(lastTransitionTime);
    return at === undefined ? [] : [[texts.of(type), at] as const];
  });
  return {
    ...(signs.length > 0 && { signs: signs.map((sign) => texts.of(sign)) }),
    ...(turns.length > 0 && { conditionsAt: Object.fromEntries(turns) }),
  };
}

function readinessOf({ metadata, status }: Node): Pick<NodeFacts, 'ready' | 'readinessStatedAt'> {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    ready: condition?.status === 'True',
    readinessStatedAt: instantOf(condition?.lastTransitionTime) ?? instantOf(metadata.creationTimestamp),
  };
}

/** A shadow as it was read. `Observations` adds what the controller knows besides. */
export type ShadowFacts = Omit<
  ShadowView,
  | 'stale'
  | 'cannotLookSince'
  | 'offeredAt'
  | 'stateSeenAt'
  | 'stepBeganAt'
  | 'stalledSince'
  | 'rebootAskedAt'
  | 'failedAt'
  | 'finishedAt'
  | 'upToDateSince'
  | 'endedAt'
> & {
  /** When its last complete update was finished, by the clock of the controller that led then. */
  readonly finishStatedAt: number | undefined;
};

export function viewOfShadow({ metadata, spec, status }: ShadowObject): ShadowFacts {
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    owners: ownersOf({ metadata }),
    spec,
    status: status ?? undefined,
    lastUpdateMs: secondsIn(metadata, LAST_UPDATE_ANNOTATION),
    lastRebootMs: secondsIn(metadata, LAST_REBOOT_ANNOTATION),
    hint: hintIn(metadata.annotations),
    ...crossedOf(metadata),
    ...(metadata.annotations?.[ASKED_FOR_ANNOTATION] != null && { isAskedFor: true }),
    ...(hasMovedNobody({ metadata, status }) && { movedNobody: true }),
    lastAttempt: metadata.annotations?.[LAST_ATTEMPT_ANNOTATION],
    updatedFrom: updatedFrom({ metadata, status }),
    finishStatedAt: instantOf(metadata.annotations?.[LAST_UPDATE_FINISHED_ANNOTATION]),
  };
}

/** By its last end: an older controller leaves the annotation there. A complete update clears what has failed before it. */
function hasMovedNobody({ metadata: { annotations }, status }: Pick<ShadowObject, 'metadata' | 'status'>): boolean {
  const lastEnd = status?.state_transition_failure_timestamp ?? annotations?.[LAST_UPDATE_FINISHED_ANNOTATION];
  return lastEnd !== undefined && lastEnd === annotations?.[MOVED_NOBODY_ANNOTATION];
}

/** Nearly no shadow has one. */
function crossedOf({ annotations }: ShadowObject['metadata']): Pick<ShadowView, 'crossed'> {
  const crossed = crossedIn(annotations);
  return crossed ? { crossed } : {};
}

/** Its last start may have led to no other version: it was called off, or failed. */
function updatedFrom({ metadata, status }: Pick<ShadowObject, 'metadata' | 'status'>): string | undefined {
  const from = versionIn(metadata, UPDATED_FROM_ANNOTATION);
  const isStillThere = from !== undefined && from === status?.current_version;
  return isStillThere ? versionIn(metadata, VERSION_BEFORE_ANNOTATION) : from;
}

/** Anybody may have written the annotation. */
function versionIn({ annotations }: ShadowObject['metadata'], name: string): string | undefined {
  const text = annotations?.[name];
  return text !== undefined && isSemver(text) ? text : undefined;
}

/** Milliseconds. */
function secondsIn({ annotations }: ShadowObject['metadata'], name: string): number | undefined {
  const text = annotations?.[name] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}

export interface AgentView {
  readonly node: string;
  readonly running: boolean;
  /** When its container last ended, where the kubelet knows. By the clock of its node, so it can only be compared with another such time. */
  readonly stoppedAt: number | undefined;
  /** What its last container that ended has said of it. */
  readonly lastWords?: string;
}

export function viewOfAgent({ spec, status }: Pod): AgentView {
  const containers = status?.containerStatuses ?? [];
  const ends = containers.flatMap(({ state, lastState }) => state?.terminated ?? lastState?.terminated ?? []);
  const stops = ends.flatMap(({ finishedAt }) => instantOf(finishedAt) ?? []);
  const [lastWords] = ends.flatMap(({ message }) => (message ? [shortened(message.trim(), LONGEST_WORDS)] : []));
  return {
    node: spec?.nodeName ?? '',
    running: isAgentRunning(containers),
    stoppedAt: stops.length > 0 ? Math.max(...stops) : undefined,
    ...(lastWords !== undefined && { lastWords }),
  };
}

/** Bytes. */
const LONGEST_WORDS = 256;

/** By node name. */
export const lastWordsOf = (agents: readonly AgentView[]): ReadonlyMap<string, string> =>
  new Map(agents.flatMap(({ node, lastWords }) => (lastWords === undefined ? [] : [[node, lastWords] as const])));

function isAgentRunning(containers: NonNullable<NonNullable<Pod['status']>['containerStatuses']>): boolean {
  return containers.some(({ state }) => state?.running != null);
}

/** Of the operator's own namespace. */
export function pauseOf({ metadata }: KubeObject): Pause {
  const value = metadata.annotations?.[PAUSED_ANNOTATION];
  return { paused: value !== undefined, pausedBy: askedIn(value) };
}
