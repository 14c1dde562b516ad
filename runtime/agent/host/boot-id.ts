import { readFile } from 'node:fs/promises';
import { HostProtocolError, HostUnreachableError } from './errors.ts';

/**
 * The kernel's random id of the present boot. Read each time: in a simulation the host reboots and this process does not.
 * @param path usually `/proc/sys/kernel/random/boot_id`, which is the host's in any container
 * @throws HostUnreachableError when it cannot be read; HostProtocolError when it is empty
 */
export async function readBootId(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new HostUnreachableError(`read ${path}`, cause.code ?? 'EIO', { cause });
  });
  const id = text.trim();
  if (id === '') throw new HostProtocolError(`${path}: empty`);
  return id;
}
