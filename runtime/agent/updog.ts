import { readFile } from 'node:fs/promises';
import type { ProcessContext } from '../lib/process.ts';
import type { UpdogAgentConfig } from './config.ts';
import { HostUnreachableError } from './host/errors.ts';
import { ChildProcesses, chrootInto } from './host/child-processes.ts';
import { Updog } from './host/updog/updog.ts';
import { readBootId, runAgent } from './run.ts';

/** Runs the agent of a host of interface 1.0.0. @see runAgent */
export function runUpdogAgent(config: UpdogAgentConfig, context: ProcessContext): Promise<string> {
  const { clock, random } = context;
  const host = new Updog({
    programs: new ChildProcesses({ prefix: chrootInto(config.HOST_ROOT), clock }),
    readOsRelease: () => readOsRelease(`${config.HOST_ROOT}/usr/lib/os-release`),
    readBootId: () => readBootId(config.BOOT_ID_PATH),
    clock,
    random,
  });
  return runAgent(config, context, host);
}

/** /etc/os-release may be a link that leads out of the mount. @throws HostUnreachableError */
async function readOsRelease(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new HostUnreachableError(path, cause.code ?? 'EIO', { cause });
  });
}
