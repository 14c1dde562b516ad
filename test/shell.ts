import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { ROOT } from './documents.ts';

export const noKubectl = spawnSync('kubectl', ['version', '--client']).error !== undefined;
/** Of the version that `tools/go/modules` pins: others have other options. */
export const noHelm = !(spawnSync('helm', ['version', '--short'], { encoding: 'utf8' }).stdout ?? '').startsWith('v4.');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ShellOptions {
  /** File. */
  readonly kubeconfig: string;
  /** Where programs keep what they remember. */
  readonly home: string;
}

/** Runs a command as a user at the root of this repository would. One that watches is ended when it has shown something. */
export function shell(command: string, { kubeconfig, home }: ShellOptions): Promise<Outcome> {
  const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig };
  // In a group of its own, so that what the shell has started ends with it.
  const child = spawn('sh', ['-c', command], { cwd: ROOT, env, detached: true });
  return outcome(child, / (-w|--watch)\b/.test(command));
}

function outcome(child: ChildProcess, watches: boolean): Promise<Outcome> {
  const text = { stdout: '', stderr: '' };
  child.stderr?.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text.stdout += chunk.toString();
      if (!watches) return;
      process.kill(-child.pid!);
      resolve({ code: 0, ...text });
    });
    child.on('close', (code) => resolve({ code, ...text }));
  });
}
