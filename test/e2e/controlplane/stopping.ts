/** How often a process looks whether its parent is there. */
export const LOOK_MS = 500;

/**
 * Aborts when this process is asked to end, or right after the npm that started it was killed. Another parent may well go and leave
 * it running, as a shell does.
 */
export function stopRequested(env: NodeJS.ProcessEnv): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const { ppid } = process;
  const look = (): void => {
    if (process.ppid !== ppid) stop.abort();
  };
  if (env['npm_lifecycle_event'] !== undefined) setInterval(look, LOOK_MS).unref();
  return stop.signal;
}
