import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** What a program prints. @throws Error with what it said of its failure */
export async function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, { ...options, maxBuffer: 64 * 2 ** 20 });
  return stdout;
}
