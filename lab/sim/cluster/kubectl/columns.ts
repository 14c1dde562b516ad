import type { ResourceType } from '../resources.ts';
import {
  ageColumn,
  type Column,
  count,
  createdColumn,
  joined,
  labels,
  list,
  nameColumn,
  since,
  text,
  value,
  wide,
} from './column.ts';
import { at, textAt } from './json-path.ts';
import { nodeRoles, nodeStatus } from './node.ts';
import { podReady, podRestarts, podStatus } from './pod.ts';

/** The columns in which kubectl shows a built-in resource; name and age for those that need no more. */
export function builtInColumns({ plural, group }: ResourceType): readonly Column[] {
  return COLUMNS[group === '' ? plural : `${plural}.${group}`] ?? [nameColumn, ageColumn];
}

const template = (path: string): readonly Column[] => [
  wide('Containers', joined(`${path}.containers`, '.name')),
  wide('Images', joined(`${path}.containers`, '.image')),
];
const workload = [...template('.spec.template.spec'), wide('Selector', labels('.spec.selector.matchLabels'))];
const roleRef = text('Role', (object) => `${textAt(object, '.roleRef.kind')}/${textAt(object, '.roleRef.name')}`);
const subjects = (name: string, kind: string, namespaced = false): Column =>
  wide(name, (object) =>
    list(object, '.subjects')
      .filter((subject) => textAt(subject, '.kind') === kind)
      .map((subject) => `${namespaced ? `${textAt(subject, '.namespace')}/` : ''}${textAt(subject, '.name')}`)
      .join(', '),
  );
const binding = [
  nameColumn,
  roleRef,
  ageColumn,
  subjects('Users', 'User'),
  subjects('Groups', 'Group'),
  subjects('ServiceAccounts', 'ServiceAccount', true),
];
const address = (type: string): Column =>
  wide(type.replace('IP', '-IP'), value(`.status.addresses[?(@.type=="${type}")].address`));

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: [
    nameColumn,
    text('Status', nodeStatus),
    text('Roles', nodeRoles),
    ageColumn,
    text('Version', value('.status.nodeInfo.kubeletVersion', '')),
    address('InternalIP'),
    address('ExternalIP'),
    wide('OS-Image', value('.status.nodeInfo.osImage', '<unknown>')),
    wide('Kernel-Version', value('.status.nodeInfo.kernelVersion', '<unknown>')),
    wide('Container-Runtime', value('.status.nodeInfo.containerRuntimeVersion', '<unknown>')),
  ],
  pods: [
    nameColumn,
    text('Ready', podReady),
    text('Status', podStatus),
    text('Restarts', podRestarts),
    ageColumn,
    wide('IP', value('.status.podIP')),
    wide('Node', value('.spec.nodeName')),
    wide('Nominated Node', value('.status.nominatedNodeName')),
    wide('Readiness Gates', joined('.spec.readinessGates', '.conditionType')),
  ],
  'daemonsets.apps': [
    nameColumn,
    count('Desired', '.status.desiredNumberScheduled'),
    count('Current', '.status.currentNumberScheduled'),
    count('Ready', '.status.numberReady'),
    count('Up-to-date', '.status.updatedNumberScheduled'),
    count('Available', '.status.numberAvailable'),
    text('Node Selector', labels('.spec.template.spec.nodeSelector')),
    ageColumn,
    ...workload,
  ],
  'deployments.apps': [
    nameColumn,
    text(
      'Ready',
      (object) => `${textAt(object, '.status.readyReplicas', '0')}/${textAt(object, '.spec.replicas', '1')}`,
    ),
    // The API server calls these two texts, though their cells are numbers.
    { ...count('Up-to-date', '.status.updatedReplicas'), type: 'string' },
    { ...count('Available', '.status.availableReplicas'), type: 'string' },
    ageColumn,
    ...workload,
  ],
  'replicasets.apps': [
    nameColumn,
    count('Desired', '.spec.replicas'),
    count('Current', '.status.replicas'),
    count('Ready', '.status.readyReplicas'),
    ageColumn,
    ...workload,
  ],
  'poddisruptionbudgets.policy': [
    nameColumn,
    text('Min Available', value('.spec.minAvailable', 'N/A')),
    text('Max Unavailable', value('.spec.maxUnavailable', 'N/A')),
    count('Allowed Disruptions', '.status.disruptionsAllowed'),
    ageColumn,
  ],
  'leases.coordination.k8s.io': [nameColumn, text('Holder', value('.spec.holderIdentity', '')), ageColumn],
  namespaces: [nameColumn, text('Status', value('.status.phase', 'Active')), ageColumn],
  services: [
    nameColumn,
    text('Type', value('.spec.type', 'ClusterIP')),
    text('Cluster-IP', value('.spec.clusterIP')),
    text('External-IP', joined('.spec.externalIPs', '')),
    text('Port(s)', servicePorts),
    ageColumn,
    wide('Selector', labels('.spec.selector')),
  ],
  events: [
    text('Last Seen', since('.lastTimestamp', '.eventTime', '.metadata.creationTimestamp')),
    text('Type', value('.type', '')),
    text('Reason', value('.reason', '')),
    text('Object', eventObject),
    wide('Subobject', value('.involvedObject.fieldPath', '')),
    wide('Source', (object) => textAt(object, '.source.component') || textAt(object, '.reportingComponent')),
    text('Message', (object) => textAt(object, '.message').trim()),
    wide('First Seen', since('.firstTimestamp', '.eventTime', '.metadata.creationTimestamp')),
    wide('Count', value('.count', '1')),
    { ...nameColumn, priority: 1 },
  ],
  secrets: [nameColumn, text('Type', value('.type', 'Opaque')), text('Data', entries), ageColumn],
  configmaps: [nameColumn, text('Data', entries), ageColumn],
  'roles.rbac.authorization.k8s.io': [nameColumn, createdColumn],
  'clusterroles.rbac.authorization.k8s.io': [nameColumn, createdColumn],
  'rolebindings.rbac.authorization.k8s.io': binding,
  'clusterrolebindings.rbac.authorization.k8s.io': binding,
  'customresourcedefinitions.apiextensions.k8s.io': [nameColumn, createdColumn],
  'priorityclasses.scheduling.k8s.io': [
    nameColumn,
    count('Value', '.value'),
    { ...text('Global-Default', (object) => at(object, '.globalDefault') ?? false), type: 'boolean' },
    ageColumn,
    text('PreemptionPolicy', value('.preemptionPolicy', 'PreemptLowerPriority')),
  ],
  'networkpolicies.networking.k8s.io': [
    nameColumn,
    text('Pod-Selector', labels('.spec.podSelector.matchLabels')),
    ageColumn,
  ],
};

function servicePorts(object: object): string {
  const ports = list(object, '.spec.ports').map(
    (port) => `${textAt(port, '.port')}/${textAt(port, '.protocol', 'TCP')}`,
  );
  return ports.join(',') || '<none>';
}

function eventObject(object: object): string {
  const kind = textAt(object, '.involvedObject.kind').toLowerCase();
  return `${kind}/${textAt(object, '.involvedObject.name')}`;
}

function entries(object: object): number {
  return Object.keys({ ...(at(object, '.data') as object), ...(at(object, '.binaryData') as object) }).length;
}
