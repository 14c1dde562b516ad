/** Lets work go on by itself until the signal ends it. A failure for any other reason is a fault of the simulation and ends the process. */
export function background(work: Promise<void>, signal: AbortSignal): void {
  void work.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
