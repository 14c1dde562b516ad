import type { ProcessContext } from '../lib/process.ts';
import type { K3osAgentConfig } from './config.ts';
import { ChildProcesses } from './host/child-processes.ts';
import { HostUnreachableError } from './host/errors.ts';
import { MountedFiles } from './host/k3os/files.ts';
import { K3os } from './host/k3os/k3os.ts';
import { readBootId, runAgent } from './run.ts';

/** Runs the agent of a k3OS host. @see runAgent */
export function runK3osAgent(config: K3osAgentConfig, context: ProcessContext): Promise<string> {
  const { clock, random } = context;
  const host = new K3os({
    files: new MountedFiles(config.HOST_ROOT),
    programs: new ChildProcesses({ prefix: [], root: config.HOST_ROOT, clock }),
    readBootId: () => readBootId(config.BOOT_ID_PATH),
    reboot: () => askInit(config.HOST_INIT_PID),
    clock,
    random,
  });
  return runAgent(config, context, host);
}

/** The init of k3OS is busybox's, which stops services and reboots when it is told to end. @throws HostUnreachableError */
async function askInit(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    throw new HostUnreachableError('init', (cause as NodeJS.ErrnoException).code ?? 'EPERM', { cause });
  }
}
