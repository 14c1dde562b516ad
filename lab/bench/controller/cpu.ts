/**
 * CPU time of this thread in milliseconds: unlike the time of day, it does not count what others do on the machine. The kernel writes it down
 * at each tick of its clock, 4 ms here, and to ask for the account of the whole process makes it write at once.
 */
export function cpuMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** @param share e.g. 0.99 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
