import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const MODULE = fileURLToPath(new URL('stopping.ts', import.meta.url));
const OPTIONS = ['--input-type=module', '--eval'];
/**
 * Says when it runs, and what it ends of. That it outlives its parent it says once it has seen it gone, and then had the time in which it
 * looks twice: by timers of its own, which fire in their order however busy the machine is. In the end it is over whatever happens.
 */
const PROGRAM = `import { LOOK_MS, stopRequested } from '${MODULE}';
  const stop = stopRequested(process.env);
  const { ppid } = process;
  const end = (why) => process.exit(console.log(why));
  stop.addEventListener('abort', () => end('asked to'));
  setTimeout(() => end('too late'), 60_000);
  const look = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(look);
    setTimeout(() => end('by itself'), 2 * LOOK_MS);
  }, 10);
  console.log('runs');`;
const PARENT = `import { spawn } from 'node:child_process';
  spawn(process.execPath, ${JSON.stringify([...OPTIONS, PROGRAM])}, { stdio: 'inherit' });`;

async function lastWords(parent: NodeJS.ProcessEnv, signal: 'SIGTERM' | 'SIGKILL', program: string): Promise<string> {
  const env = { PATH: process.env['PATH'], ...parent };
  const started = spawn(process.execPath, [...OPTIONS, program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(started.stdout, 'readable');
  const said = text(started.stdout);
  started.kill(signal);
  return said;
}

test('a process ends when it is asked to', async () => {
  expect(await lastWords({}, 'SIGTERM', PROGRAM)).toBe('runs\nasked to\n');
});

test('what npm has started ends when npm is killed', async () => {
  expect(await lastWords({ npm_lifecycle_event: 'controlplane' }, 'SIGKILL', PARENT)).toBe('runs\nasked to\n');
});

test('what a shell has started outlives it', async () => {
  expect(await lastWords({}, 'SIGKILL', PARENT)).toBe('runs\nby itself\n');
});
