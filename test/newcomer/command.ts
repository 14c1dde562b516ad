import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a program wrote. */
export interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, beside whatever this process serves meanwhile. */
export function run(command: readonly string[], { cwd, env }: CommandOptions): Promise<Said> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(said);
      else reject(new Error(`${command.join(' ')} ended with ${code}\n${said.stdout}${said.stderr}`));
    });
  });
}

/** Runs a program that has nothing to complain of. */
export async function runQuietly(command: readonly string[], options: CommandOptions): Promise<void> {
  const { stdout, stderr } = await run(command, options);
  if (stderr !== '' || /warn|deprecat|error/i.test(stdout)) {
    throw new Error(`${command.join(' ')} has something to say\n${stdout}${stderr}`);
  }
}
