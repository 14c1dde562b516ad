import { readFile } from 'node:fs/promises';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { AgentConfig } from './config.ts';
import { Bottlerocket } from './hosts/bottlerocket/bottlerocket.ts';
import { ChildProcesses, chrootInto } from './hosts/child-processes.ts';
import { BootIdError, HostUnreachableError } from './hosts/errors.ts';
import { MountedFiles } from './hosts/k3os/files.ts';
import { K3os } from './hosts/k3os/k3os.ts';
import type { HostUpdater } from './hosts/port.ts';
import { UnixSocketTransport } from './hosts/bottlerocket/unix-socket.ts';
import { Updog } from './hosts/updog/updog.ts';

interface Around {
  readonly clock: Clock;
  readonly random: Random;
}

/** The host that the agent runs on, through the driver that its settings name. */
export function hostUpdater(config: AgentConfig, { clock, random }: Around): HostUpdater {
  const shared = { readBootId: () => readBootId(config.BOOT_ID_PATH), clock, random };
  const root = config.HOST_ROOT;
  switch (config.HOST_DRIVER) {
    case 'bottlerocket':
      return new Bottlerocket({ ...shared, transport: new UnixSocketTransport(config.BOTTLEROCKET_API_SOCKET, clock) });
    case 'updog':
      return new Updog({
        ...shared,
        programs: new ChildProcesses({ prefix: chrootInto(root), clock }),
        // /etc/os-release may be a link that leads out of the mount.
        readOsRelease: () => readOsRelease(`${root}/usr/lib/os-release`),
      });
    case 'k3os':
      return new K3os({
        ...shared,
        files: new MountedFiles(root),
        programs: new ChildProcesses({ prefix: [], root, clock }),
        reboot: () => askInit(config.HOST_INIT_PID),
      });
    default:
      throw new Error(`no driver: ${String(config.HOST_DRIVER satisfies never)}`);
  }
}

/**
 * The kernel's random id of the present boot. It is read each time: in a simulation the host reboots and this process does not.
 * @param path usually `/proc/sys/kernel/random/boot_id`, which is the host's in any container
 * @throws BootIdError when it cannot be read or is empty
 */
export async function readBootId(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new BootIdError(`${path}: cannot be read (${cause.code ?? 'EIO'})`, { cause });
  });
  const id = text.trim();
  if (id === '') throw new BootIdError(`${path}: empty`);
  return id;
}

/** @throws HostUnreachableError */
async function readOsRelease(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new HostUnreachableError(path, cause.code ?? 'EIO', { cause });
  });
}

/** The init of k3OS is busybox's, which stops services and reboots when it is told to end. @throws HostUnreachableError */
async function askInit(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    throw new HostUnreachableError('init', (cause as NodeJS.ErrnoException).code ?? 'EPERM', { cause });
  }
}
