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
 * A JSON merge patch for a Node. It always carries the resourceVersion of the node that it was computed from. If somebody else changed the
 * node in between, the patch fails and its writer reads the node again.
 */
export interface NodePatch {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Annotations;
  };
  readonly spec?: { readonly unschedulable?: true | null; readonly taints?: readonly object[] | null };
}

/** One drain attempt, as the caller knows it. */
export interface Attempt {
  /** Identity for new marks, unique to each call. */
  readonly id: string;
  /** Now, RFC 3339. */
  readonly now: string;
  /** The agent's boot id; null where it did not say one. Null counts as the same boot, and makes the marks say none. */
  readonly boot: string | null;
  /** When the newest pod on the node was created (RFC 3339); undefined where the pods were not listed. */
  readonly newestPod?: string | undefined;
  /** Until when the drain, if it begins, lets work finish (RFC 3339); undefined where it does not. */
  readonly waitsUntil?: string | undefined;
}

/** A check that found the node empty: its time, and an identity of its own. */
type Proof = Pick<Attempt, 'id' | 'now'>;

const HINTS: readonly (readonly [Ownable, string])[] = [
  ['cluster-autoscaler', CLUSTER_AUTOSCALER_ANNOTATION],
  ['karpenter', KARPENTER_ANNOTATION],
];
const HINT_VALUE = 'true';

/**
 * Cordons `node` for a drain: unschedulable, the label `updating` and the autoscaler hints, with marks that own what was not there before.
 * An attempt of the same boot on the node is joined: `id`, `since` and `owns` stay. One of another boot gets a new `id` and `since`, and `owns`
 * stays. Undefined where this attempt has cordoned the node already.
 */
export function cordonPatch(node: MarkedNode, attempt: Attempt): NodePatch | undefined {
  const before = readMarks(node);
  const { id, since, boot, newestPod } = drainOn(node, attempt);
  const cordoned = node.spec?.unschedulable === true;
  const ours = marksOfDrain(node, id);
  if (ours && ours.boot === boot && ours.since === since) return undefined;
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
          ...(before?.id === id
            ? { returning: before.returning, volumesSince: before.volumesSince, waitsUntil: before.waitsUntil }
            : { waitsUntil: attempt.waitsUntil }),
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
 * The drain that `attempt` belongs to: the one on the node if it joins that, else a new one under its own id. Pods that came while the node
 * was not cordoned do not count as late, so `newestPod` is then read again.
 */
export function drainOn(node: MarkedNode, attempt: Attempt): Drain {
  const { id, now, boot, newestPod } = attempt;
  const marks = readMarks(node);
  if (marks?.since == null || !joins(marks, attempt)) return { id, since: now, boot, newestPod };
  const cordoned = node.spec?.unschedulable === true;
  return {
    id: marks.id,
    // A future or unreadable time, as a clock that is ahead writes it, would put the deadline off for ever: begin anew.
    since: Date.parse(marks.since) <= Date.parse(now) ? marks.since : now,
    // The boot of a drain is known only while every attempt names it: one that names none may come from a later boot.
    boot: boot === null ? null : marks.boot,
    newestPod: cordoned ? marks.newestPod : newestPod,
  };
}

/** An attempt joins the drain on the node unless both name a boot and the boots differ. Marks that cannot be parsed are not joined. */
function joins(marks: Marks, attempt: Attempt): boolean {
  const otherBoot = marks.boot !== null && attempt.boot !== null && marks.boot !== attempt.boot;
  return marks.id !== '' && !otherBoot;
}

/**
 * Records that the node is empty and cordoned by the drain `id`. The resourceVersion proves that both were so at one moment. Undefined
 * where this drain has not cordoned it.
 */
export function drainedPatch(node: MarkedNode, id: string, { id: proof, now }: Proof): NodePatch | undefined {
  const marks = marksOfDrain(node, id);
  return marks && annotate(node, { ...marks, drained: now, proof });
}

/** Records that the drain `id` lets nobody's work finish any longer: its time counts from now. Undefined where that is so, or it has not cordoned the node. */
export function evictingPatch(node: MarkedNode, id: string, now: string): NodePatch | undefined {
  const marks = marksOfDrain(node, id);
  return marks?.waitsUntil === undefined ? undefined : annotate(node, { ...marks, since: now, waitsUntil: undefined });
}

/** Records that the drain `id` begins to wait for volumes. Undefined where it has not cordoned the node. */
export function volumesPatch(node: MarkedNode, id: string, now: string): NodePatch | undefined {
  const marks = marksOfDrain(node, id);
  return marks && annotate(node, { ...marks, volumesSince: now });
}

/** Records what the drain `id` cannot keep from the node. Undefined where it stands there already, or it has not cordoned the node. */
export function returningPatch(node: MarkedNode, id: string, origins: readonly string[]): NodePatch | undefined {
  const marks = marksOfDrain(node, id);
  const returning = [...new Set([...(marks?.returning ?? []), ...origins])];
  return marks && returning.length > (marks.returning ?? []).length
    ? annotate(node, { ...marks, returning })
    : undefined;
}

/** The marks; undefined where the drain `id` has not cordoned the node. */
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
    marks.id !== '' && marks.since === null && left.owns.length === 0
      ? annotated(node, ended(node, marks))
      : annotate(node, left);
  return isOurExclusion(node) ? { ...patch, metadata: { ...patch.metadata, labels: { [LB_LABEL]: null } } } : patch;
}

/**
 * Undoes exactly what the marks own, and removes the marks. A node under the hold annotation keeps its cordon, which from then on is the
 * administrator's. What only a newer version could undo is noted in another annotation, because marks would keep the node busy for ever.
 * Undefined where there are no marks.
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

/** A label with another value than ours belongs to somebody else. */
function isOurExclusion({ metadata }: MarkedNode): boolean {
  return metadata.labels?.[LB_LABEL] === LB_VALUE;
}

/** Gives up the cordon after somebody uncordoned the node: a later cordon is theirs. Undefined where we own none, or the node is cordoned. */
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

/** Removes the marks, and notes what only a newer version could undo. */
function ended({ metadata }: MarkedNode, { unknown }: Marks): Annotations {
  if (!unknown) return { [MARKS_ANNOTATION]: null };
  const earlier = metadata.annotations?.[UNRELEASED_ANNOTATION]?.split(/, */) ?? [];
  return { [MARKS_ANNOTATION]: null, [UNRELEASED_ANNOTATION]: [...new Set([...earlier, ...unknown])].join(', ') };
}

function union(before: readonly Ownable[] | undefined, added: readonly Ownable[]): Ownable[] {
  return [...new Set([...(before ?? []), ...added])];
}
