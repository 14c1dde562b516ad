import { readFile } from 'node:fs/promises';
import { BootIdError } from './errors.ts';

/**
 * The kernel's random id of the present boot. Read each time: in a simulation the host reboots and this process does not.
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
