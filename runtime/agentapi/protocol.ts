/** The HTTP API that the apiserver has for agents, in names alone. Both sides and the simulation read it from here. */

export const PATHS = {
  resource: '/bottlerocket-node-resource',
  cordonAndDrain: '/bottlerocket-node-resource/cordon-and-drain',
  uncordon: '/bottlerocket-node-resource/uncordon',
  excludeFromLb: '/bottlerocket-node-resource/exclude-from-lb',
  removeExclusionFromLb: '/bottlerocket-node-resource/remove-exclusion-from-lb',
} as const;

/** Header names as they are documented; HTTP compares them without case. */
export const HEADERS = {
  nodeName: 'BrupopNodeName',
  nodeUid: 'BrupopNodeUid',
  token: 'BrupopK8sAuthToken',
  /** Optional: the boot id of the host that the agent runs on. */
  bootId: 'BrupopBootId',
  /** Optional, with a status: the resourceVersion of the shadow that the agent acted on. */
  shadowVersion: 'BrupopShadowVersion',
} as const;

/** Body of every refusal. */
export interface Refusal {
  /** One sentence for a person. */
  readonly error: string;
  readonly reason: RefusalReason;
}

/** One word for a program. A client has to expect others: the apiserver may be older or newer than it. */
export const REFUSAL_REASONS = [
  /** The request lacks a header, repeats one, or its body cannot be read. */
  'BadRequest',
  /** The status does not fit the model. */
  'InvalidStatus',
  /** The token is not an agent's, or not valid. */
  'Unauthorized',
  /** The token is an agent's, but of another node. */
  'Forbidden',
  /** The rules of an update do not allow it now; the message says which. */
  'NotAllowed',
  /** The object changed since it was read: look again. */
  'Conflict',
  /** Pods on the node cannot be evicted as things are; the message names them. */
  'Undrainable',
  /** A drain was superseded by another attempt, or its marks were released. */
  'Superseded',
  /** This replica ends; another one will take over. */
  'ShuttingDown',
  /** The drain's deadline has passed; the message names the pods left and why. */
  'DrainTimeout',
  /** The Kubernetes API cannot be reached or fails. */
  'KubernetesUnavailable',
  /** The Kubernetes API refuses what the apiserver wants, e.g. for a missing permission. */
  'KubernetesRefused',
  /** The Kubernetes API takes the status in no case: its schema, or an admission policy, is against it. */
  'StatusRefused',
  /** The node, or the connection, has more requests under way than one agent has. */
  'TooManyRequests',
  /** Others have sent more than can be kept in memory, or reviewed, at once. */
  'Busy',
  /** TLS failed, or its handshake did not end in time. */
  'Handshake',
  /** Headers or body did not come in time. */
  'TooSlow',
  /** Nobody waits for the answer any more. */
  'ClientGone',
  'NotFound',
  'TooLarge',
  'InternalError',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];
