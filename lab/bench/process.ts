import { readFile } from 'node:fs/promises';

/** What the system tells of a process that is measured. */

const TICKS_A_SECOND = 100;

/** CPU time that the process has used, all threads together. */
export async function cpuSeconds({ pid }: { readonly pid?: number | undefined }): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Memory in MiB that the process has now: all that is resident, and of that what no file stands behind, which a node cannot take back. */
export async function footprintMb(pid: number): Promise<{ readonly rss: number; readonly anonymous: number }> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]) / 1024;
  return { rss: megabytes('Rss'), anonymous: megabytes('Anonymous') };
}

/** Resident memory in MiB. */
export async function memoryMb({
  pid,
}: {
  readonly pid?: number | undefined;
}): Promise<{ readonly now: number; readonly highest: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { now: megabytes('VmRSS'), highest: megabytes('VmHWM') };
}
