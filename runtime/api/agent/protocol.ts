/** The names of the HTTP API that the apiserver has for agents. Both sides and the simulation take them from here. */

export const PATHS = {
  resource: '/bottlerocket-node-resource',
  cordonAndDrain: '/bottlerocket-node-resource/cordon-and-drain',
  uncordon: '/bottlerocket-node-resource/uncordon',
  excludeFromLb: '/bottlerocket-node-resource/exclude-from-lb',
  lookAtWorkloads: '/bottlerocket-node-resource/look-at-workloads',
  removeExclusionFromLb: '/bottlerocket-node-resource/remove-exclusion-from-lb',
  lookForDisplaced: '/bottlerocket-node-resource/look-for-displaced',
} as const;

/** Header names as they are documented. HTTP compares them without case. */
export const HEADERS = {
  nodeName: 'BrupopNodeName',
  nodeUid: 'BrupopNodeUid',
  token: 'BrupopK8sAuthToken',
  /** Optional: the boot id of the host that the agent runs on. */
  bootId: 'BrupopBootId',
  /** Optional, with a status: the resourceVersion of the shadow that the agent acted on. */
  shadowVersion: 'BrupopShadowVersion',
  /** Optional, with that: the state that the agent had reached by then, which is the `current_state` of that shadow. */
  shadowState: 'BrupopShadowState',
} as const;

/** Body of every refusal. */
export interface RefusalBody {
  /** One sentence for a person. */
  readonly error: string;
  readonly reason: RefusalReason;
}

/** One word for a program. A client has to expect others, because the apiserver may be of another release. */
export const REFUSAL_REASONS = [
  /** The request lacks a header, repeats one, or its body cannot be read. */
  'BadRequest',
  /** The status does not fit the model. */
  'InvalidStatus',
  /** The token is not an agent's, or not valid. */
  'Unauthorized',
  /** The token is an agent's, but of another node. */
  'Forbidden',
  /** The rules of an update do not allow it now. The message says which rule. */
  'NotAllowed',
  /** The object has changed since it was read. Look again. */
  'Conflict',
  /** Pods on the node cannot be evicted as things are; the message names them. */
  'Undrainable',
  /** Another attempt superseded the drain, or its marks were released. */
  'Superseded',
  /** This replica ends, and another one will take over. */
  'ShuttingDown',
  /** The drain's deadline has passed. The message names the pods that are left, and why. */
  'DrainTimeout',
  /** The Kubernetes API cannot be reached or fails. */
  'KubernetesUnavailable',
  /** The Kubernetes API refuses the apiserver, for example because a permission is missing. */
  'KubernetesRefused',
  /** The Kubernetes API's schema or an admission policy refuses the status, however often it is sent. */
  'StatusRefused',
  /** The node, or the connection, has more requests under way than one agent sends. */
  'TooManyRequests',
  /** Others have sent more than fits in memory, or can be reviewed, at once. */
  'Busy',
  /** TLS failed, or its handshake did not end in time. */
  'Handshake',
  /** Headers or body did not arrive in time. */
  'TooSlow',
  /** The client has gone and does not wait for the answer. */
  'ClientGone',
  'NotFound',
  'TooLarge',
  'InternalError',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];
