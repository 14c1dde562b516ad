import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const MODULE = fileURLToPath(new URL('stopping.ts', import.meta.url));
const OPTIONS = ['--input-type=module', '--eval'];
/** Says when it runs, and what it ends of. */
const PROGRAM = `import { stopRequested } from '${MODULE}';
  const stop = stopRequested(process.env);
  const end = (why) => process.exit(console.log(why));
  stop.addEventListener('abort', () => end('asked to'));
  setTimeout(() => end('by itself'), 2000);
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
