import { z } from 'zod';
import { MARKS_ANNOTATION } from './names.ts';

/** What of the operator's can be on a node. Each is undone only by whoever `owns` it. */
export const OWNABLE = ['cordon', 'lb', 'cluster-autoscaler', 'karpenter'] as const;
export type Ownable = (typeof OWNABLE)[number];

/**
 * What the operator left on a node, kept in the node's annotation `brupop.bottlerocket.aws/marks` and written only together with the
 * resourceVersion of the node that was read first.
 */
export interface Marks {
  /** Identity of the drain attempt; a drain that finds another id here has been superseded. */
  readonly id: string;
  /** When the drain began (RFC 3339): its deadline counts from here. Null while the node is only excluded from load balancers. */
  readonly since: string | null;
  /** Boot id of the host for which the drain runs; null where the agent did not say. */
  readonly boot: string | null;
  /**
   * When the newest pod that was on the node at its cordon was created (RFC 3339): those created later came later. By the API server's
   * clock, as all times of creation are, and not by that of whoever cordoned. The Node's own where it had no pods. Undefined where an older
   * replica cordoned, and while the node is only excluded from load balancers.
   */
  readonly newestPod?: string | undefined;
  /** When its volumes were first waited for, its pods being gone (RFC 3339): the time for them counts from here. */
  readonly volumesSince?: string | undefined;
  /** When the node was last proven empty under this id (RFC 3339). */
  readonly drained?: string | undefined;
  /** Another with each proof: one that changed nothing would leave others the node's version, and with it what they decided before. */
  readonly proof?: string | undefined;
  /** What a release has to undo, exactly. */
  readonly owns: readonly Ownable[];
  /** Entries of `owns` on the node that a newer version wrote and this one cannot undo; undefined where there are none. */
  readonly unknown?: readonly string[] | undefined;
}

const schema = z.object({
  id: z.string(),
  since: z.string().nullable(),
  boot: z.string().nullable(),
  newestPod: z.string().optional(),
  volumesSince: z.string().optional(),
  drained: z.string().optional(),
  proof: z.string().optional(),
  owns: z.array(z.string()),
});

/** The part of a Node that marks are read from and written to. */
export interface MarkedNode {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly unschedulable?: boolean };
}

/** Marks that somebody edited by hand are marks all the same: the node counts as busy, and a release undoes nothing but them. */
const UNREADABLE: Marks = { id: '', since: null, boot: null, owns: [] };

/** The marks on `node`; undefined where there are none. */
export function readMarks(node: MarkedNode): Marks | undefined {
  const text = node.metadata.annotations?.[MARKS_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { owns, ...marks } = schema.parse(JSON.parse(text));
    const unknown = owns.filter((entry) => !isOwnable(entry));
    return { ...marks, owns: owns.filter(isOwnable), ...(unknown.length > 0 && { unknown }) };
  } catch {
    return UNREADABLE;
  }
}

function isOwnable(entry: string): entry is Ownable {
  return OWNABLE.some((known) => known === entry);
}

/** The annotation's text. */
export function writeMarks({ owns, unknown = [], ...marks }: Marks): string {
  return JSON.stringify({ ...marks, owns: [...owns, ...unknown] });
}
