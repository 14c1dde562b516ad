import * as z from 'zod';
import { CLUSTER_AUTOSCALER_ANNOTATION, KARPENTER_ANNOTATION, LB_LABEL, LB_VALUE, MARKS_ANNOTATION } from './names.ts';

/** What the operator can put on a node. A release takes away only those that the marks list in `owns`. */
const OWNABLE = ['cordon', 'lb', 'cluster-autoscaler', 'karpenter'] as const;
export type Ownable = (typeof OWNABLE)[number];

/**
 * What the operator left on a node, kept in the node's annotation `brupop.bottlerocket.aws/marks`. It is written only together with the
 * resourceVersion of the node that was read before.
 */
export interface Marks {
  /** Identity of the drain attempt. A drain that finds another id here has been superseded. */
  readonly id: string;
  /** When the drain began (RFC 3339), from which its deadline counts. Null while the node is only excluded from load balancers. */
  readonly since: string | null;
  /** Boot id of the host for which the drain runs; null where the agent did not say. */
  readonly boot: string | null;
  /**
   * creationTimestamp (RFC 3339) of the newest pod that was on the node when it was cordoned: a pod created later came after the cordon. All
   * such times are by the API server's clock, so they can be compared. Where the node had no pods, it is the Node's own. Undefined where an
   * older replica cordoned, and while the node is only excluded from load balancers.
   */
  readonly newestPod?: string | undefined;
  /**
   * What has put another pod on the cordoned node each time one was evicted, past the scheduler: UIDs of controllers, or `namespace/name` of
   * pods without one. Its pods are left.
   */
  readonly returning?: readonly string[] | undefined;
  /** Until when the drain lets work finish, at most (RFC 3339). Undefined once it evicts pods. */
  readonly waitsUntil?: string | undefined;
  /** When the wait for its volumes began, after its pods were gone (RFC 3339). The time allowed for them counts from here. */
  readonly volumesSince?: string | undefined;
  /** When the node was last proven empty under this id (RFC 3339). */
  readonly drained?: string | undefined;
  /** New with each proof, so that each proof changes the Node's resourceVersion: a write decided before it then conflicts. */
  readonly proof?: string | undefined;
  /** What a release has to undo, exactly. */
  readonly owns: readonly Ownable[];
  /**
   * Entries of `owns` that a newer version of the operator wrote and this one cannot undo, or `unreadable` where it is not known what there is to
   * undo besides; undefined where there are none.
   */
  readonly unknown?: readonly string[] | undefined;
}

const drain = z.object({
  id: z.string(),
  since: z.string().nullable(),
  boot: z.string().nullable(),
  newestPod: z.string().optional(),
  returning: z.array(z.string()).optional(),
  waitsUntil: z.string().optional(),
  volumesSince: z.string().optional(),
  drained: z.string().optional(),
  proof: z.string().optional(),
});
const owned = z.object({ owns: z.array(z.string()) });

/** The part of a Node that marks are read from and written to. */
export interface MarkedNode {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?:
      readonly { readonly manager?: string; readonly fieldsV1?: object | null }[] | null | undefined;
  };
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly effect: string }[];
  };
}

/** Of a drain that nobody can read, e.g. after somebody edited the marks: the node counts as busy, and no drain joins it. */
const NO_DRAIN: Omit<Marks, 'owns'> = { id: '', since: null, boot: null };
/** Stands for what marks own that cannot be read. */
export const UNREADABLE = 'unreadable';

/** The marks on `node`; undefined where there are none. Where what they own cannot be read, it is what the Node shows to be ours. */
export function readMarks(node: MarkedNode): Marks | undefined {
  const text = node.metadata.annotations?.[MARKS_ANNOTATION];
  if (text === undefined) return undefined;
  const json = parsed(text);
  const said = owned.safeParse(json).data;
  const owns = said?.owns.filter(isOwnable) ?? ownedByEvidence(node);
  const unknown = said ? said.owns.filter((entry) => !isOwnable(entry)) : [UNREADABLE];
  return { ...(drain.safeParse(json).data ?? NO_DRAIN), owns, ...(unknown.length > 0 && { unknown }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The field manager of what drains nodes, as the API server derives it from the User-Agent. */
const OUR_MANAGER = 'brupop-apiserver';

/** What is there, and was last changed by the apiserver or bears a value that only the operator writes. */
function ownedByEvidence({ metadata: { labels, managedFields } }: MarkedNode): Ownable[] {
  const isOurs = (...path: readonly string[]): boolean =>
    managedFields?.some(({ manager, fieldsV1 }) => manager === OUR_MANAGER && has(fieldsV1, path)) === true;
  const evidence: Readonly<Record<Ownable, boolean>> = {
    cordon: isOurs('spec', 'unschedulable'),
    lb: labels?.[LB_LABEL] === LB_VALUE,
    'cluster-autoscaler': isOurs('metadata', 'annotations', CLUSTER_AUTOSCALER_ANNOTATION),
    karpenter: isOurs('metadata', 'annotations', KARPENTER_ANNOTATION),
  };
  return OWNABLE.filter((entry) => evidence[entry]);
}

function has(fields: object | null | undefined, path: readonly string[]): boolean {
  let at: unknown = fields;
  for (const name of path) at = (at as Record<string, unknown> | null | undefined)?.[`f:${name}`];
  return at !== undefined;
}

function isOwnable(entry: string): entry is Ownable {
  return OWNABLE.some((known) => known === entry);
}

/** The text of the annotation. */
export function writeMarks({ owns, unknown = [], ...marks }: Marks): string {
  return JSON.stringify({ ...marks, owns: [...owns, ...unknown] });
}
