/**
 * An UpdateChannel as JSON. Any field may be null or missing. As in the operator's preview, it has no status subresource, so every writer can write
 * all of it.
 */
export interface ChannelObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec?: ChannelSpec | null;
  readonly status?: ChannelStatus | null;
}

interface ChannelSpec {
  /** Nodes that may be updating at once. */
  readonly concurrency?: number | null;
  /** Where releases come from, e.g. `github-releases://rancher/k3os`. */
  readonly url?: string | null;
  /** The release that nodes should run, e.g. `v0.11.0`. `latest` or nothing means the newest; the controller then writes its name here. */
  readonly version?: string | null;
}

export interface ChannelStatus {
  /** The node that is next while the source is asked; empty otherwise. */
  readonly polling?: string | null;
  /** Names of the nodes that are being updated. */
  readonly upgrading?: readonly string[] | null;
  readonly conditions?: readonly ChannelCondition[] | null;
}

/** As Kubernetes' own `metav1.Condition`. */
export interface ChannelCondition {
  readonly type: ChannelConditionType | (string & {});
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** Accepted: the spec is valid. Resolved: the source has the named release. */
const CHANNEL_CONDITIONS = ['Accepted', 'Resolved'] as const;
export type ChannelConditionType = (typeof CHANNEL_CONDITIONS)[number];
