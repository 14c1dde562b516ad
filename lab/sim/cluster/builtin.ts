import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Candidate } from './candidate.ts';
import type { Core } from './core.ts';
import { at, fields, type Fields, isFields, type KubeJson, list, text, without } from './object.ts';

type Prepare = (object: KubeJson, core: Core) => KubeJson;

/** What the API server fills in when an object of this kind is created, as far as anybody here reads it. */
const ON_CREATE: Readonly<Record<string, Prepare>> = {
  Namespace: (namespace) => ({
    ...namespace,
    metadata: {
      ...namespace.metadata,
      labels: { 'kubernetes.io/metadata.name': namespace.metadata.name, ...namespace.metadata.labels },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  Pod: (pod) => ({ ...pod, status: { phase: 'Pending', qosClass: 'BestEffort' } }),
  Deployment: withReplicas,
  ReplicaSet: withReplicas,
  PodDisruptionBudget: (pdb) => ({ ...pdb, status: NO_DISRUPTIONS }),
  Service: (service) => ({
    ...service,
    spec: { type: 'ClusterIP', ...fields(service['spec']) },
    status: { loadBalancer: {} },
  }),
};

const POD_SPEC = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  schedulerName: 'default-scheduler',
};
const NO_DISRUPTIONS = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };

function withReplicas(object: KubeJson): KubeJson {
  return { ...object, spec: { replicas: 1, ...fields(object['spec']) } };
}

/** And on every write of the object itself. */
const ON_WRITE: Readonly<Record<string, Prepare>> = {
  Secret: (secret) => ({ type: 'Opaque', ...secret }),
  Pod: (pod) => ({ ...pod, spec: { ...POD_SPEC, ...fields(pod['spec']) } }),
  // `false` is never stored: a node that was uncordoned looks like one that never was cordoned.
  Node: (node) =>
    at(node, 'spec', 'unschedulable') === false
      ? { ...node, spec: without(fields(node['spec']), 'unschedulable') }
      : node,
  CustomResourceDefinition: (crd, core) => established(crd, rfc3339(core.clock.now())),
};

/** Brings an object of a built-in kind into the form in which it is stored. */
export function prepareBuiltIn(core: Core, { type, object, before, subresource }: Candidate): KubeJson {
  if (subresource === 'status') return object;
  const created = before ? object : (ON_CREATE[type.kind]?.(object, core) ?? object);
  return ON_WRITE[type.kind]?.(created, core) ?? created;
}

/** A CRD is served from the moment it is stored, and says so. */
function established(crd: KubeJson, now: string): KubeJson {
  const spec = fields(crd['spec']);
  const names = fields(spec['names']);
  const kind = text(names['kind']);
  const accepted = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  const status = fields(crd['status']);
  const storage = text(
    list(spec['versions'])
      .map(fields)
      .find((version) => version['storage'] === true)?.['name'],
  );
  const stored = [...new Set([...list(status['storedVersions']), storage])];
  const conditions = status['conditions'] ?? [
    {
      type: 'NamesAccepted',
      status: 'True',
      reason: 'NoConflicts',
      message: 'no conflicts found',
      lastTransitionTime: now,
    },
    {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
      lastTransitionTime: now,
    },
  ];
  return {
    ...crd,
    spec: { ...spec, names: accepted, conversion: withPort(spec['conversion']) },
    status: { ...status, conditions, acceptedNames: accepted, storedVersions: stored },
  };
}

function withPort(conversion: unknown): Fields {
  const service = at(conversion, 'webhook', 'clientConfig', 'service');
  if (!isFields(service)) return { strategy: 'None', ...fields(conversion) };
  const webhook = fields(at(conversion, 'webhook'));
  const clientConfig = { ...fields(webhook['clientConfig']), service: { port: 443, ...service } };
  return { ...fields(conversion), webhook: { ...webhook, clientConfig } };
}
