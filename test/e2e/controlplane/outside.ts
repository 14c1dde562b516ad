import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export interface OutsideOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Where the command's output goes. @default where this process's own goes */
  readonly stdout?: 'inherit' | 'ignore';
  readonly stop: AbortSignal;
}

/**
 * Starts a control plane in namespaces of its own and runs a command on it, or presents it if there is none, until that ends or `stop`
 * aborts. Resolves with the exit code. The fourth channel's end tells the process inside to stop, also when this one was killed.
 */
export async function runInside(
  command: readonly string[],
  { env, stdout = 'inherit', stop }: OutsideOptions,
): Promise<number> {
  const stdio: StdioOptions = ['inherit', stdout, 'inherit', 'pipe'];
  const inner = spawn(here('isolated'), [process.execPath, here('inside.ts'), ...command], { env, stdio });
  const end = (): void => void inner.stdio[3]?.destroy();
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  const [code] = (await once(inner, 'exit')) as [number | null];
  stop.removeEventListener('abort', end);
  return code ?? 1;
}
