import type { Schema } from '../crd/schema.ts';
import type { ResourceType } from '../resources.ts';
import {
  flag,
  instant,
  list,
  map,
  microInstant,
  microTime,
  open,
  partly,
  struct,
  text,
  texts,
  time,
  whole,
} from './fields.ts';

const META = struct({
  ...texts('name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'),
  generation: whole,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: whole,
  labels: map(text),
  annotations: map(text),
  ownerReferences: list(
    struct({ ...texts('apiVersion', 'kind', 'name', 'uid'), controller: flag, blockOwnerDeletion: flag }),
  ),
  finalizers: list(text),
  managedFields: list(open),
});
const ENVELOPE = { ...texts('apiVersion', 'kind'), metadata: META };

const CONDITION = { ...texts('type', 'status', 'reason', 'message'), lastTransitionTime: instant };
const CONTAINER_STATE = struct({
  waiting: struct(texts('reason', 'message')),
  running: struct({ startedAt: instant }),
  terminated: struct({
    ...texts('reason', 'message', 'containerID'),
    exitCode: whole,
    signal: whole,
    startedAt: instant,
    finishedAt: instant,
  }),
});
const REFERENCE = struct(texts('kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'));
const CONTAINER = partly(texts('name', 'image'));
const POD_SPEC = partly({
  ...texts('nodeName', 'serviceAccountName', 'restartPolicy', 'schedulerName', 'priorityClassName', 'dnsPolicy'),
  terminationGracePeriodSeconds: whole,
  activeDeadlineSeconds: whole,
  hostNetwork: flag,
  nodeSelector: map(text),
  tolerations: list(struct({ ...texts('key', 'operator', 'value', 'effect'), tolerationSeconds: whole })),
  containers: list(CONTAINER),
  initContainers: list(CONTAINER),
  volumes: list(partly({ name: text, persistentVolumeClaim: partly(texts('claimName')) })),
});
/** The fields of each built-in kind that the operator writes. Those of specs and statuses only as far as anybody here reads them; the rest is open. */
const STRUCTURES: Readonly<Record<string, Readonly<Record<string, Schema>>>> = {
  Node: {
    spec: struct({
      ...texts('podCIDR', 'providerID', 'externalID'),
      podCIDRs: list(text),
      unschedulable: flag,
      taints: list(struct({ ...texts('key', 'value', 'effect'), timeAdded: time })),
      configSource: open,
    }),
    status: partly({
      conditions: list(partly({ ...CONDITION, lastHeartbeatTime: instant })),
      volumesInUse: list(text),
      nodeInfo: partly(texts('bootID', 'osImage', 'kubeletVersion')),
    }),
  },
  Pod: {
    spec: POD_SPEC,
    status: partly({
      ...texts('phase', 'reason', 'message', 'podIP'),
      conditions: list(partly({ ...CONDITION, lastProbeTime: instant })),
      containerStatuses: list(
        partly({ name: text, ready: flag, restartCount: whole, state: CONTAINER_STATE, lastState: CONTAINER_STATE }),
      ),
    }),
  },
  ConfigMap: { data: map(text), immutable: flag },
  Event: {
    ...texts('reason', 'message', 'type', 'action', 'reportingComponent', 'reportingInstance'),
    involvedObject: REFERENCE,
    related: REFERENCE,
    source: struct(texts('component', 'host')),
    firstTimestamp: instant,
    lastTimestamp: instant,
    eventTime: microInstant,
    count: whole,
    series: struct({ count: whole, lastObservedTime: microInstant }),
  },
  Lease: {
    spec: struct({
      ...texts('holderIdentity', 'strategy', 'preferredHolder'),
      leaseDurationSeconds: whole,
      leaseTransitions: whole,
      acquireTime: microTime,
      renewTime: microTime,
    }),
  },
};

/** What a deletion may be told; of more nobody here takes notice. */
export const DELETE_OPTIONS = partly({
  gracePeriodSeconds: whole,
  propagationPolicy: text,
  orphanDependents: flag,
  preconditions: struct(texts('uid', 'resourceVersion')),
  dryRun: list(text),
});

const BUILT_IN = new Map(Object.entries(STRUCTURES).map(([kind, own]) => [kind, struct({ ...ENVELOPE, ...own })]));
/** Of all others the envelope alone. Of a custom resource the rest is for the schema of its definition. */
const CUSTOM = partly(ENVELOPE);

/** What the API server decodes an object of this type into. */
export function structureOf({ kind }: ResourceType, custom: boolean): Schema {
  return (custom ? undefined : BUILT_IN.get(kind)) ?? CUSTOM;
}
