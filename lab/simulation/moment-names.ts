/** Writes and calls that the rules of docs/protocol.md name: those that are counted, and at which faults are aimed. */
export const MOMENTS = {
  'permit-taken': "L1: a start's swap of the Lease's list",
  'permit-given-back': "L3: the swap that takes a permit off the Lease's list",
  bump: "L4: a patch of the shadow's annotation that fences delayed writes",
  'spec-start': 'L1: spec leaves Idle, or spec.version is another',
  'spec-advance': 'spec goes one state on',
  'spec-call-off': 'L8: spec back to Idle before the node is disturbed',
  'spec-rescue': 'M8 (c): spec back to Idle for an agent that is gone',
  'drain-asked': 'the agent asks for cordon-and-drain',
  'drain-announced': 'M1: status.drain is written to the shadow',
  cordon: 'M1: marks and cordon are written to the Node',
  eviction: 'M2: a pod is asked to go',
  'last-look': 'M3: an apiserver lists the pods of a Node that bears marks, and none is left but those of DaemonSets',
  drained: 'M3: the proof is written to the Node',
  'node-touched': 'L3: the patch of the Node that fences its drains before the permit goes',
  'release-asked': 'the agent asks for the end of its marks',
  'status-sent': 'B5: the agent sends its status',
  released: 'M5, M6, M8: marks leave the Node',
  'status-staged': 'B1: status reaches StagedAndPerformedUpdate, and sets a probe',
  'reboot-recorded': 'B1: status.reboot gets its time',
  'reboot-asked': 'B1: the host is asked to reboot',
  'status-rebooted': 'B1: status reaches RebootedIntoUpdate',
  'status-idle': 'status reaches Idle',
  'status-error-reset': 'F1: status reaches ErrorReset',
  prepare: 'B3: the host is asked to prepare an update',
  activate: 'B3: the host is asked to activate it',
  'shadow-created': 'a node gets its shadow',
  'shadow-deleted': 'M8: the shadow of a node that is not managed goes',
  condition: 'a verdict is written to the shadow',
  'lease-takeover': 'L5: the Lease has another holder',
  'lease-renewal': 'the holder renews the Lease',
  'lb-excluded': 'the label that excludes from load balancers is written to the Node, with marks',
  'volumes-awaited': 'M9: the marks get the time from which volumes are waited for',
  disowned: 'M6: the marks give up a cordon that somebody has lifted',
  'policy-status': 'P8: the status of a policy is written',
} as const;

export type Moment = keyof typeof MOMENTS;

/** Those at which faults are drawn by dice of their own, so that seeds from before they had names draw for all others what they did. */
export const FURTHER: readonly Moment[] = ['lb-excluded', 'volumes-awaited', 'disowned', 'policy-status', 'last-look'];
