import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { K3OS_REQUIREMENTS } from '../runtime/api/k3os/names.ts';
import { DRIVER_LABEL } from '../runtime/api/shadow/names.ts';
import { agentDaemonSet, agentEnvironment, type AgentParts, ROOT_ON_HOST } from './agent-pods.ts';
import { HOST_PID } from './manifest.ts';
import { K3OS_DAEMON_SET } from './names.ts';
import { addObject } from './objects.ts';
import type { Settings } from './props/brupop.ts';

const directory = (path: string): k8s.HostPathVolumeSource => ({ path, type: 'Directory' });
const file = (path: string): k8s.HostPathVolumeSource => ({ path, type: 'File' });

/** Files of the host that its `k3os` program needs, at the same paths. */
const FILES: AgentParts['files'] = [
  // The version that runs.
  { name: 'k3os-os-release', mountPath: '/etc/os-release', hostPath: file('/etc/os-release'), readOnly: true },
  // The authorities that the host trusts.
  { name: 'k3os-etc-ssl', mountPath: '/etc/ssl', hostPath: directory('/etc/ssl'), readOnly: true },
  { name: 'k3os-exe', mountPath: '/sbin/k3os', hostPath: file('/sbin/k3os'), readOnly: true },
  { name: 'k3os-system', mountPath: '/k3os/system', hostPath: directory('/k3os/system') },
  // The lock of the program, how the host was booted, and the driver's record of the present boot.
  { name: 'k3os-run', mountPath: '/run/k3os', hostPath: directory('/run/k3os') },
];

/** One agent on each k3OS node. It is root on its host. */
export class K3osAgent extends Construct {
  readonly daemonSet: ApiObject;

  /** @internal */
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.daemonSet = addObject(this, 'DaemonSet', agentDaemonSet(settings, k3osParts(settings)));
  }
}

function k3osParts(settings: Settings): AgentParts {
  return {
    name: K3OS_DAEMON_SET,
    labels: { [DRIVER_LABEL]: 'k3os' },
    nodes: K3OS_REQUIREMENTS,
    pod: {
      env: agentEnvironment(settings, { HOST_DRIVER: 'k3os' }),
      resources: settings.k3os.resources,
      // k3os remounts the host's system so that it can be written.
      ...ROOT_ON_HOST,
    },
    files: FILES,
    // The host is rebooted by its init, which is told so.
    spec: HOST_PID,
  };
}
