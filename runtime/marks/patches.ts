import { HOLD_ANNOTATION } from '../shadow/names.ts';
import { type MarkedNode, type Marks, type Ownable, readMarks, writeMarks } from './marks.ts';
import {
  CLUSTER_AUTOSCALER_ANNOTATION,
  KARPENTER_ANNOTATION,
  LB_LABEL,
  LB_VALUE,
  MARKS_ANNOTATION,
  UNRELEASED_ANNOTATION,
  UPDATING_LABEL,
} from './names.ts';

/** Null removes. */
type Annotations = Readonly<Record<string, string | null>>;

/**
 * A JSON merge patch for a Node. It always carries the resourceVersion of the node that it was computed from: whoever changed the node
 * in between wins, and the writer has to look again.
 */
export interface NodePatch {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Annotations;
  };
  readonly spec?: { readonly unschedulable: true | null };
}

/** One drain attempt, as the caller knows it. */
export interface Attempt {
  /** Identity for new marks; fresh for each call. */
  readonly id: string;
  /** Now, RFC 3339. */
  readonly now: string;
  /** The agent's boot id; null where it did not say, which is not another boot. */
  readonly boot: string | null;
  /** When the newest pod on the node was created (RFC 3339); undefined where nobody has looked. */
  readonly newestPod?: string | undefined;
}

/** One look at an empty node: its time, and an identity of its own. */
export type Proof = Pick<Attempt, 'id' | 'now'>;

const HINTS: readonly (readonly [Ownable, string])[] = [
  ['cluster-autoscaler', CLUSTER_AUTOSCALER_ANNOTATION],
  ['karpenter', KARPENTER_ANNOTATION],
];
const HINT_VALUE = 'true';

/**
 * Cordons `node` for a drain: unschedulable, the label `updating` and the autoscaler hints, with marks that own what was not there
 * before. An attempt of the same boot is joined (id, since and what it owns stay), one of another boot is renewed but keeps what it owns.
 * Undefined where the node is cordoned by this attempt already.
 */
export function cordonPatch(node: MarkedNode, attempt: Attempt): NodePatch | undefined {
  const before = readMarks(node);
  const { id, since, boot, newestPod } = drainOn(node, attempt);
  const cordoned = node.spec?.unschedulable === true;
  if (cordoned && before?.id === id) return undefined;
  const hints = HINTS.filter(([, annotation]) => node.metadata.annotations?.[annotation] === undefined);
  const taken: Ownable[] = [...(cordoned ? [] : (['cordon'] as const)), ...hints.map(([owned]) => owned)];
  return {
    metadata: {
      resourceVersion: node.metadata.resourceVersion,
      labels: { [UPDATING_LABEL]: 'true' },
      annotations: {
        ...Object.fromEntries(hints.map(([, annotation]) => [annotation, HINT_VALUE])),
        [MARKS_ANNOTATION]: writeMarks({
          id,
          since,
          boot,
          newestPod,
          volumesSince: before?.id === id ? before.volumesSince : undefined,
          owns: union(before?.owns, taken),
          unknown: before?.unknown,
        }),
      },
    },
    spec: { unschedulable: true },
  };
}

type Drain = Pick<Marks, 'id' | 'boot' | 'newestPod'> & { readonly since: string };

/**
 * The drain that `attempt` means: the one on the node where it joins that, else a new one under its own id. What came while a node was
 * uncordoned is not late.
 */
export function drainOn(node: MarkedNode, attempt: Attempt): Drain {
  const { id, now, boot, newestPod } = attempt;
  const marks = readMarks(node);
  if (marks?.since == null || !joins(marks, attempt)) return { id, since: now, boot, newestPod };
  const cordoned = node.spec?.unschedulable === true;
  return { id: marks.id, since: marks.since, boot: marks.boot, newestPod: cordoned ? marks.newestPod : newestPod };
}

/** A drain belongs to the attempt on the node if that one has begun and neither side knows of another boot. */
function joins(marks: Marks, attempt: Attempt): boolean {
  const otherBoot = marks.boot !== null && attempt.boot !== null && marks.boot !== attempt.boot;
  return marks.id !== '' && !otherBoot;
}

/** Proves, by its resourceVersion, that the node as read was cordoned by the drain `id`; undefined where it was not. */
export function drainedPatch(node: MarkedNode, id: string, { id: proof, now }: Proof): NodePatch | undefined {
  const marks = marksOfDrain(node, id);
  return marks && annotate(node, { ...marks, drained: now, proof });
}

/** The drain `id` begins to wait for volumes; undefined where the node was not cordoned by it. */
export function volumesPatch(node: MarkedNode, id: string, now: string): NodePatch | undefined {
  const marks = marksOfDrain(node, id);
  return marks && annotate(node, { ...marks, volumesSince: now });
}

/** Undefined where the node is not cordoned by the drain `id`. */
function marksOfDrain(node: MarkedNode, id: string): Marks | undefined {
  const marks = readMarks(node);
  return marks?.id !== id || node.spec?.unschedulable !== true ? undefined : marks;
}

/** Excludes `node` from load balancers; undefined where the label is there already, whoever set it. */
export function excludeFromLbPatch(node: MarkedNode, attempt: Attempt): NodePatch | undefined {
  if (node.metadata.labels?.[LB_LABEL] !== undefined) return undefined;
  const marks = readMarks(node) ?? { id: attempt.id, since: null, boot: attempt.boot, owns: [] };
  const patch = annotate(node, { ...marks, owns: union(marks.owns, ['lb']) });
  return { ...patch, metadata: { ...patch.metadata, labels: { [LB_LABEL]: LB_VALUE } } };
}

/** Undoes our own exclusion from load balancers; undefined where there is none of ours. */
export function removeExclusionPatch(node: MarkedNode): NodePatch | undefined {
  const marks = readMarks(node);
  if (!marks?.owns.includes('lb')) return undefined;
  const left = { ...marks, owns: marks.owns.filter((owned) => owned !== 'lb') };
  const patch =
    marks.since === null && left.owns.length === 0 ? annotated(node, ended(node, marks)) : annotate(node, left);
  return isOurExclusion(node) ? { ...patch, metadata: { ...patch.metadata, labels: { [LB_LABEL]: null } } } : patch;
}

/**
 * Undoes exactly what the marks own, and the marks. A node under the hold annotation keeps its cordon, which is the administrator's from
 * then on. What a newer version has to undo is remembered beside the marks, which would keep the node busy for ever. Undefined where there
 * are no marks.
 */
export function releasePatch(node: MarkedNode): NodePatch | undefined {
  const marks = readMarks(node);
  if (marks === undefined) return undefined;
  const held = node.metadata.annotations?.[HOLD_ANNOTATION] !== undefined;
  const owned = HINTS.filter(
    ([hint, annotation]) => marks.owns.includes(hint) && node.metadata.annotations?.[annotation] === HINT_VALUE,
  );
  const excluded = marks.owns.includes('lb') && isOurExclusion(node);
  return {
    metadata: {
      resourceVersion: node.metadata.resourceVersion,
      labels: { [UPDATING_LABEL]: null, ...(excluded && { [LB_LABEL]: null }) },
      annotations: {
        ...Object.fromEntries(owned.map(([, annotation]) => [annotation, null])),
        ...ended(node, marks),
      },
    },
    ...(marks.owns.includes('cordon') && !held && { spec: { unschedulable: null } }),
  };
}

/** A label with another value than ours is somebody else's by now. */
function isOurExclusion({ metadata }: MarkedNode): boolean {
  return metadata.labels?.[LB_LABEL] === LB_VALUE;
}

/** Somebody uncordoned the node: a cordon that comes after that is theirs. Undefined where we do not claim one, or it still stands. */
export function disownCordonPatch(node: MarkedNode): NodePatch | undefined {
  const marks = readMarks(node);
  if (!marks?.owns.includes('cordon') || node.spec?.unschedulable === true) return undefined;
  return annotate(node, { ...marks, owns: marks.owns.filter((owned) => owned !== 'cordon') });
}

function annotate(node: MarkedNode, marks: Marks): NodePatch {
  return annotated(node, { [MARKS_ANNOTATION]: writeMarks(marks) });
}

function annotated({ metadata: { resourceVersion } }: MarkedNode, annotations: Annotations): NodePatch {
  return { metadata: { resourceVersion, annotations } };
}

/** The end of these marks. */
function ended({ metadata }: MarkedNode, { unknown }: Marks): Annotations {
  if (!unknown) return { [MARKS_ANNOTATION]: null };
  const earlier = metadata.annotations?.[UNRELEASED_ANNOTATION]?.split(/, */) ?? [];
  return { [MARKS_ANNOTATION]: null, [UNRELEASED_ANNOTATION]: [...new Set([...earlier, ...unknown])].join(', ') };
}

function union(before: readonly Ownable[] | undefined, added: readonly Ownable[]): Ownable[] {
  return [...new Set([...(before ?? []), ...added])];
}
