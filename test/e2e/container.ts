import { fileURLToPath } from 'node:url';
import type { Pod } from '../../runtime/kube/objects.ts';
import { hostSocket } from '../../lab/sim/hosts/program-server.ts';
import type { Mounts } from '../../lab/sim/world/pod-files.ts';
import { containerOf } from '../../lab/sim/world/pod-template.ts';
import { childProcess, imageCommand, type StartProgram } from '../../lab/sim/world/programs.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What the operator's image brings along, by the path in it. */
const IMAGE: Mounts = { '/opt/brupop': here('../../build'), '/bin/node': process.execPath };

/** For the script, and in the container for who asks. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

export interface ContainerOptions {
  /** An empty folder. */
  readonly root: string;
  /** File of the names that the cluster's DNS would resolve. */
  readonly hostsFile: string;
  /** Folder of this machine that is the root of the pod's host. */
  readonly hostRoot: string | undefined;
  /** Words of a command that runs the words after it in the cgroup of the pod. @default the pod has none of its own */
  readonly enter?: ((pod: Pod) => readonly string[]) | undefined;
}

/**
 * The command that a pod states, in a mount namespace of its own: it sees the files of its image and what its pod mounts, where that
 * mounts it, and of this machine can write to what it may write to of its host. Undefined for a container of another image.
 */
export function containerProgram(
  pod: Pod,
  { root, hostsFile, hostRoot, enter }: ContainerOptions,
): StartProgram | undefined {
  const command = imageCommand(pod);
  if (!command) return undefined;
  return (env, logFile, mounts = {}) => {
    const files = { ...IMAGE, '/etc/hosts': hostsFile, ...scriptFiles(pod, hostRoot), ...mounts };
    const shown = Object.entries(files).flatMap(([inside, outside]) => [outside, inside, accessTo(pod, inside)]);
    const [program = '', ...args] = [...(enter?.(pod) ?? []), here('contained'), root, ...shown, '--', ...command];
    return childProcess(program, ...args)({ PATH, ...env }, logFile);
  };
}

/**
 * The host's own programs are scripts here, where an agent that is among the host's processes runs them: what these need beside themselves is
 * where they look for it.
 */
function scriptFiles({ spec }: Pod, hostRoot: string | undefined): Mounts {
  if (!spec?.hostPID || hostRoot === undefined) return {};
  const files = ['/bin/sh', process.execPath, hostSocket(hostRoot)];
  return Object.fromEntries(files.map((path) => [path, path]));
}

/** Of all that pods mount, files of their host and what is theirs alone can be written to, where they do not say otherwise. */
function accessTo(pod: Pod, inside: string): 'ro' | 'rw' {
  const mount = containerOf(pod)?.volumeMounts?.find(({ mountPath }) => mountPath === inside);
  const volume = pod.spec?.volumes?.find(({ name }) => name === mount?.name);
  const writable = volume !== undefined && ('hostPath' in volume || 'emptyDir' in volume);
  return writable && !mount?.readOnly ? 'rw' : 'ro';
}
