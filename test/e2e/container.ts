import { fileURLToPath } from 'node:url';
import type { Pod } from '../../runtime/kube/objects.ts';
import { childProcess, imageCommand, type StartProgram } from '../../sim/world/programs.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What the operator's image brings along, by the path in it. */
const IMAGE: Readonly<Record<string, string>> = { '/opt/brupop': here('../../build'), '/bin/node': process.execPath };

/** For the script, and in the container for who asks. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** What all containers share. */
export interface ContainerOptions {
  /** An empty folder. */
  readonly root: string;
  /** File of the names that the cluster's DNS would resolve. */
  readonly hostsFile: string;
}

/**
 * The command that a pod states, in a mount namespace of its own: it sees the files of its image and what its pod mounts, where that
 * mounts it, and nothing else of this machine can be written to. Undefined for a container of another image.
 */
export function containerProgram(pod: Pod, { root, hostsFile }: ContainerOptions): StartProgram | undefined {
  const command = imageCommand(pod);
  if (!command) return undefined;
  return (env, logFile, mounts = {}) => {
    const files = Object.entries({ ...IMAGE, '/etc/hosts': hostsFile, ...mounts });
    const shown = files.flatMap(([inside, outside]) => [outside, inside]);
    return childProcess(here('contained'), root, ...shown, '--', ...command)({ PATH, ...env }, logFile);
  };
}
