import type { LabelSelector } from '../../lib/selector.ts';
import { MANAGED_LABEL } from '../shadow/names.ts';

/** Public names of k3OS, and of the preview of its operator. Existing installations use them, so they never change. */

export const K3OS_GROUP = 'k3os.io';
export const CHANNEL_KIND = 'UpdateChannel';
export const CHANNEL_PLURAL = 'updatechannels';
export const CHANNEL_SINGULAR = 'updatechannel';
export const CHANNEL_SHORT_NAMES = ['upchan', 'upchans'] as const;
export const CHANNEL_VERSION = 'v1';
export const CHANNEL_API_VERSION = `${K3OS_GROUP}/${CHANNEL_VERSION}`;
export const CHANNEL_CRD_NAME = `${CHANNEL_PLURAL}.${K3OS_GROUP}`;

/** The namespace of channels. */
export const CHANNEL_NAMESPACE = 'k3os-system';
/** Name of the channel that the controller creates where there is none. */
export const DEFAULT_CHANNEL = 'github-releases';
export const DEFAULT_CHANNEL_URL = 'github-releases://rancher/k3os';

/** Label of each node that runs k3OS: how it was booted. */
export const MODE_LABEL = `${K3OS_GROUP}/mode`;
/** The node was booted from a read-only medium. */
export const LIVE_MODE = 'live';

/** Annotation of a channel: the node for which it was created. */
export const NODE_ANNOTATION = `${K3OS_GROUP}/node`;
/** Annotation of a shadow: the tag of the wanted release, e.g. `v0.11.0`. */
export const VERSION_ANNOTATION = `${K3OS_GROUP}/version`;
/** Annotation of a shadow: the URL of the source of that release. */
export const CHANNEL_ANNOTATION = `${K3OS_GROUP}/channel`;

interface NodeRequirement {
  readonly key: string;
  readonly operator: 'Exists' | 'NotIn' | 'DoesNotExist';
  readonly values?: string[];
}

/** Selects the nodes of channels. A node that also has the label of Bottlerocket nodes counts as one of those. */
export const K3OS_REQUIREMENTS: readonly NodeRequirement[] = [
  { key: MODE_LABEL, operator: 'Exists' },
  { key: MODE_LABEL, operator: 'NotIn', values: [LIVE_MODE] },
  { key: MANAGED_LABEL, operator: 'DoesNotExist' },
];

export const K3OS_NODES: LabelSelector = { matchExpressions: K3OS_REQUIREMENTS };
