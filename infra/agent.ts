import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../runtime/api/shadow/names.ts';
import { Access } from './access.ts';
import { agentDaemonSet, agentEnvironment, type AgentParts } from './agent-pods.ts';
import { DAEMON_SET } from './names.ts';
import { addObject } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/** The host's group that may speak to its API. */
const API_SOCKET_GROUP = 274;

const SOCKET_VOLUME = 'bottlerocket-api-socket';

/** One agent on each managed node. */
export class Agent extends Construct {
  readonly access: Access;
  readonly daemonSet: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.access = new Access(this, 'Access', { settings, component: 'agent' });
    this.daemonSet = addObject(this, 'DaemonSet', agentDaemonSet(settings, bottlerocketParts(settings)));
  }
}

function bottlerocketParts(settings: Settings): AgentParts {
  const { agent } = settings;
  return {
    name: DAEMON_SET,
    labels: {},
    nodes: [{ key: MANAGED_LABEL, operator: 'In', values: [MANAGED_LABEL_VALUE] }],
    pod: {
      env: agentEnvironment(settings, { BOTTLEROCKET_API_SOCKET: agent.apiSocket }),
      security: { seLinuxOptions: { user: 'system_u', role: 'system_r', type: agent.seLinuxType, level: 's0' } },
      podSecurity: { supplementalGroups: [API_SOCKET_GROUP] },
    },
    // The file, not its folder: /run holds the container runtime's socket too.
    files: [{ name: SOCKET_VOLUME, mountPath: agent.apiSocket, hostPath: { path: agent.apiSocket, type: 'Socket' } }],
  };
}
