/** The public names of the operator. Each one is part of a contract with existing installations: never change one. */

export const GROUP = 'brupop.bottlerocket.aws';
export const KIND = 'BottlerocketShadow';
export const PLURAL = 'bottlerocketshadows';
export const SINGULAR = 'bottlerocketshadow';
export const SHORT_NAME = 'brs';
export const STORAGE_VERSION = 'v2';
/** The stored version comes first. */
export const SERVED_VERSIONS = [STORAGE_VERSION, 'v1'] as const;
export type ServedVersion = (typeof SERVED_VERSIONS)[number];
export const API_VERSION = `${GROUP}/${STORAGE_VERSION}`;
export const CRD_NAME = `${PLURAL}.${GROUP}`;

export const NAMESPACE = 'brupop-bottlerocket-aws';

/** Nodes with this label and value are managed. */
export const MANAGED_LABEL = 'bottlerocket.aws/updater-interface-version';
export const MANAGED_LABEL_VALUE = '2.0.0';

/** The interface of the first operator, whose hosts have no API for updates. Such nodes are managed only where INTERFACE_V1 says so. */
export const MANAGED_LABEL_V1 = '1.0.0';

/** Says to which of the operator's three parts an object, e.g. a pod, belongs. */
export const COMPONENT_LABEL = `${GROUP}/component`;
export const COMPONENTS = { agent: 'agent', apiserver: 'apiserver', controller: 'brupop-controller' } as const;

/** On every object of ours, and on none of the older operator. */
export const NAME_LABEL = 'app.kubernetes.io/name';

/** Says by which driver an agent's pod updates its host. Those of Bottlerocket's API lack it. */
export const DRIVER_LABEL = `${GROUP}/driver`;

/** What the parts that write Events call themselves there. */
export const EVENT_REPORTERS = { apiserver: 'brupop-apiserver', controller: 'brupop-controller' } as const;

export const CONTROLLER_DEPLOYMENT = 'brupop-controller-deployment';
export const CONTROLLER_LEASE = 'brupop-controller';
/** In kube-system: by these who makes pods and who places them elect their leaders. */
export const CONTROL_PLANE_LEASES = ['kube-controller-manager', 'kube-scheduler'] as const;
export const APISERVER_SERVICE = 'brupop-apiserver';
export const CONTROLLER_SERVICE = 'brupop-controller-server';
/** Name of its port. Monitors of existing installations go by it. */
export const CONTROLLER_PORT_NAME = 'main';
/** Of what the controller says on `/plan`. */
export const PLAN_SCHEMA = 1;
export const AGENT_SERVICE_ACCOUNT = 'brupop-agent-service-account';
export const APISERVER_SERVICE_ACCOUNT = 'brupop-apiserver-service-account';
export const CONTROLLER_SERVICE_ACCOUNT = 'brupop-controller-service-account';
/** Audience of the agents' projected tokens. */
export const TOKEN_AUDIENCE = 'brupop-apiserver';

/** On the controller's Lease: since when, and with which words, the API server refuses its Events. */
export const EVENTS_REFUSED_ANNOTATION = `${GROUP}/events-refused`;
/** Reason of the Event on the controller's Deployment that says why nobody leads. */
export const LEASE_REFUSED = 'LeaseRefused';

/** On the namespace: no update starts. */
export const PAUSED_ANNOTATION = `${GROUP}/paused`;
/** On a node: no update starts, and the cordon stays when a running one ends. */
export const HOLD_ANNOTATION = `${GROUP}/hold`;
/** On a node: its update comes next under its policy, also outside of the windows (rule P9). The value says who has asked. */
export const UPDATE_NOW_ANNOTATION = `${GROUP}/update-now`;
/** On a node: the pause after this failure is over (rule P9). The value is the `state_transition_failure_timestamp` of the failure. */
export const RETRY_ANNOTATION = `${GROUP}/retry`;

/** On a node: it was decided whether the node is managed, so it is not labelled again. */
export const ADOPTED_ANNOTATION = `${GROUP}/adopted`;
/** On a shadow: how long the node's last complete update took, in whole seconds. */
export const LAST_UPDATE_ANNOTATION = `${GROUP}/last-update-seconds`;
/** On a shadow: how long the node was away for that update, from the request of its reboot to its agent's report, in whole seconds. */
export const LAST_REBOOT_ANNOTATION = `${GROUP}/last-reboot-seconds`;
/** On a shadow: when the node's last complete update was finished (RFC 3339). */
export const LAST_UPDATE_FINISHED_ANNOTATION = `${GROUP}/last-update-finished`;
/** On a shadow: when its last update was finished, or failed (as stated), if that was as its machine joined: it makes nobody pause (rule P16). Its next start takes it off. */
export const MOVED_NOBODY_ANNOTATION = `${GROUP}/moved-nobody`;
/** On a shadow: the version that the node ran when its present update, or its last one, began. */
export const UPDATED_FROM_ANNOTATION = `${GROUP}/updated-from`;
/** On a shadow: the version that the node ran before that one, or once the update is complete, before what it runs. */
export const VERSION_BEFORE_ANNOTATION = `${GROUP}/version-before`;
/** On a shadow: names the attempt that was the node's last complete update (rule F3). */
export const LAST_ATTEMPT_ANNOTATION = `${GROUP}/last-attempt`;
/** On a shadow: who has asked for the update that it is on, or was on last. */
export const ASKED_FOR_ANNOTATION = `${GROUP}/asked-for`;
/** On a shadow: the version that its node is to prepare at rest, and since when (rule H1). */
export const STAGE_ANNOTATION = `${GROUP}/stage`;
/** On a shadow: whose work its node's drain lets finish first (rule M11). */
export const LET_FINISH_ANNOTATION = `${GROUP}/let-finish`;
/** On a shadow: which drain its own blocked, and was called off for (rule M12). */
export const CROSSED_ANNOTATION = `${GROUP}/crossed`;
/** On a shadow that is given out as v1, and on no other: its spec and status as of v2. */
export const CONVERSION_DATA_ANNOTATION = `${GROUP}/conversion-data`;

/** The condition of a shadow that says why its node is, or is not, on the newest offered version. */
export const UP_TO_DATE = 'UpToDate';

const PREFIX = 'brs-';

/** The shadow of the node `nodeName` is called `brs-<node name>`. */
export function shadowName(nodeName: string): string {
  return `${PREFIX}${nodeName}`;
}

/** The inverse of `shadowName`; undefined for a name that no shadow of a node can have. */
export function nodeNameOf(shadow: string): string | undefined {
  return shadow.startsWith(PREFIX) && shadow.length > PREFIX.length ? shadow.slice(PREFIX.length) : undefined;
}

/** Fields of the status that an agent neither sends nor touches: the controller's conditions, and what the apiserver says of drains. */
export const NOT_OF_AGENTS = {
  conditions: true,
  preflight: true,
  drain: true,
  drain_refused: true,
  drain_failed: true,
  no_room: true,
  displaced: true,
  unready_before: true,
  workloads: true,
} as const;
