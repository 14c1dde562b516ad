/** The HTTP API between agents and the apiserver, in names alone. Both sides and the simulation read it from here. */

export const PATHS = {
  resource: '/bottlerocket-node-resource',
  cordonAndDrain: '/bottlerocket-node-resource/cordon-and-drain',
  uncordon: '/bottlerocket-node-resource/uncordon',
  excludeFromLb: '/bottlerocket-node-resource/exclude-from-lb',
  removeExclusionFromLb: '/bottlerocket-node-resource/remove-exclusion-from-lb',
  crdConvert: '/crdconvert',
  ping: '/ping',
  metrics: '/metrics',
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
  /** One word for a program, e.g. `DrainTimeout`, `Superseded`, `Conflict`, `Unauthorized`. */
  readonly reason: string;
}
