import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { binaries, type GoProgram } from '../go/build.ts';
import { run } from './run.ts';

/** What writes the formats of the OCI for us. */
export const CRANE: GoProgram = {
  name: 'crane',
  module: 'crane',
  package: 'github.com/google/go-containerregistry/cmd/crane',
};

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

export type Crane = (...args: readonly string[]) => Promise<string>;

/** Finds crane, or builds it. @throws as `binaries` */
export async function findCrane(env: NodeJS.ProcessEnv): Promise<{ readonly file: string; readonly crane: Crane }> {
  const file = (await binaries({ env, progress }, [CRANE]))['crane'] ?? '';
  return { file, crane: async (...args) => (await run(file, args, { env })).trim() };
}

/** Runs `work` with the name of a registry on this machine, which keeps what it is given in a new folder and ends afterwards. */
export async function withRegistry<T>(file: string, dir: string, work: (host: string) => Promise<T>): Promise<T> {
  await mkdir(dir);
  const args = ['registry', 'serve', '--address', '127.0.0.1:0', '--disk', dir];
  const registry = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(registry, 'close');
  try {
    return await work(`127.0.0.1:${await portOf(registry)}`);
  } finally {
    registry.kill();
    await ended;
  }
}

/** As its log says. */
async function portOf({ stderr }: ChildProcess): Promise<string> {
  if (!stderr) throw new Error('the registry has no log');
  for await (const line of createInterface(stderr)) {
    const [, port] = /serving on port (\d+)/.exec(line) ?? [];
    if (port !== undefined) {
      stderr.resume();
      return port;
    }
  }
  throw new Error('the registry on this machine did not start');
}
