import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { DRIVER_LABEL, MANAGED_LABEL, MANAGED_LABEL_V1 } from '../runtime/api/shadow/names.ts';
import { agentDaemonSet, agentEnvironment, type AgentParts, ROOT_ON_HOST } from './agent-pods.ts';
import { selectorLabels } from './labels.ts';
import { HOST_PID } from './manifest.ts';
import { UPDOG_DAEMON_SET } from './names.ts';
import { addObject } from './objects.ts';
import type { Settings } from './props/brupop.ts';

const ROOT_VOLUME = 'host-root';
const HOST_ROOT = '/.bottlerocket/rootfs';

/**
 * Two agents on one node would write the same partition. When the label of a node changes, the new agent's pod waits until the other one is gone.
 * Anti-affinity works in both directions, so one of the two DaemonSets states it.
 */
const ALONE: k8s.PodAntiAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: selectorLabels('agent') } },
  ],
};

/** One agent on each node of the first operator's interface 1.0.0. It is root on its host. */
export class UpdogAgent extends Construct {
  readonly daemonSet: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.daemonSet = addObject(this, 'DaemonSet', agentDaemonSet(settings, updogParts(settings)));
  }
}

function updogParts(settings: Settings): AgentParts {
  return {
    name: UPDOG_DAEMON_SET,
    labels: { [DRIVER_LABEL]: 'updog' },
    nodes: [{ key: MANAGED_LABEL, operator: 'In', values: [MANAGED_LABEL_V1] }],
    pod: {
      env: agentEnvironment(settings, { HOST_DRIVER: 'updog', HOST_ROOT }),
      resources: settings.agent.interfaceV1Resources,
      // To change its root a process must be root, and to write a disk its container must have the host's devices.
      ...ROOT_ON_HOST,
    },
    files: [{ name: ROOT_VOLUME, mountPath: HOST_ROOT, hostPath: { path: '/', type: 'Directory' } }],
    // shutdown does nothing in a root that is not that of process 1.
    spec: HOST_PID,
    podAntiAffinity: ALONE,
  };
}
