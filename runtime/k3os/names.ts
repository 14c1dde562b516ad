import type { LabelSelector } from '../lib/selector.ts';
import { MANAGED_LABEL } from '../shadow/names.ts';

/** The public names of k3OS, and of the preview of its operator. Each one is part of a contract with existing installations: never change one. */

export const K3OS_GROUP = 'k3os.io';
export const CHANNEL_KIND = 'UpdateChannel';
export const CHANNEL_PLURAL = 'updatechannels';
export const CHANNEL_SINGULAR = 'updatechannel';
export const CHANNEL_SHORT_NAMES = ['upchan', 'upchans'] as const;
export const CHANNEL_VERSION = 'v1';
export const CHANNEL_API_VERSION = `${K3OS_GROUP}/${CHANNEL_VERSION}`;
export const CHANNEL_CRD_NAME = `${CHANNEL_PLURAL}.${K3OS_GROUP}`;

/** Where channels live. */
export const CHANNEL_NAMESPACE = 'k3os-system';
/** The channel that is made where there is none. */
export const DEFAULT_CHANNEL = 'github-releases';
export const DEFAULT_CHANNEL_URL = 'github-releases://rancher/k3os';

/** On each node that runs k3OS: how it was booted. */
export const MODE_LABEL = `${K3OS_GROUP}/mode`;
/** Booted from a medium that nothing is written to. */
export const LIVE_MODE = 'live';

/** On a channel: the node that made it. */
export const NODE_ANNOTATION = `${K3OS_GROUP}/node`;
/** On a shadow: the release of the node's order as its source names it, e.g. `v0.11.0`. */
export const VERSION_ANNOTATION = `${K3OS_GROUP}/version`;
/** On a shadow: the URL of the source of that release. */
export const CHANNEL_ANNOTATION = `${K3OS_GROUP}/channel`;

interface NodeRequirement {
  readonly key: string;
  readonly operator: 'Exists' | 'NotIn' | 'DoesNotExist';
  readonly values?: string[];
}

/** The nodes that channels are about. One that also bears the label of Bottlerocket's nodes is taken for what that says. */
export const K3OS_REQUIREMENTS: readonly NodeRequirement[] = [
  { key: MODE_LABEL, operator: 'Exists' },
  { key: MODE_LABEL, operator: 'NotIn', values: [LIVE_MODE] },
  { key: MANAGED_LABEL, operator: 'DoesNotExist' },
];

export const K3OS_NODES: LabelSelector = { matchExpressions: K3OS_REQUIREMENTS };
