import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildImage } from './build.ts';
import { findCrane } from './crane.ts';
import { Downloads } from './downloads.ts';
import { readLock, writeLock } from './lock.ts';
import { newLock } from './materials.ts';
import { type Command, HELP, parseCommand } from './options.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = join(ROOT, 'build', 'image');

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (line: string): void => void process.stderr.write(`warning: ${line}\n`);

async function build(whenGone: 'newest' | 'refuse'): Promise<void> {
  const { env } = process;
  const options = { root: ROOT, out: OUT, env, lock: await readLock(), downloads: new Downloads(env), whenGone, warn };
  const { digest, sizes } = await buildImage(options);
  for (const [arch, layers] of Object.entries(sizes)) say(`linux/${arch}  ${sizeLine(layers)}`);
  say(`build/image/oci  ${digest}`);
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

function sizeLine(layers: Readonly<Record<string, number>>): string {
  const each = Object.entries(layers).map(([name, bytes]) => `${name} ${megabytes(bytes)}`);
  const all = Object.values(layers).reduce((sum, bytes) => sum + bytes, 0);
  return `${megabytes(all)} MB compressed (${each.join(', ')})`;
}

/** Pins what is newest today. Node is the one that the project itself runs on. */
async function lock(): Promise<void> {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8');
  const { devDependencies } = JSON.parse(text) as { devDependencies: { node: string } };
  await writeLock(await newLock(devDependencies.node, await readLock()));
}

/** Prints the image's name with its digest, as crane does. @throws Error where the registry knows it by another than the build stated */
async function push(reference: string): Promise<void> {
  const { crane } = await findCrane(process.env);
  const pushed = await crane('push', join(OUT, 'oci'), reference);
  const digest = (await readFile(join(OUT, 'digest'), 'utf8')).trim();
  if (!pushed.endsWith(`@${digest}`)) throw new Error(`expected ${digest}, got ${pushed}`);
  say(pushed);
}

async function carryOut(command: Command): Promise<void> {
  switch (command.kind) {
    case 'help':
      return void process.stdout.write(HELP);
    case 'unknown':
      throw new Error(`${command.fault}\n\n${HELP}`);
    case 'build':
      return build(command.whenGone);
    case 'lock':
      return lock();
    case 'push':
      return push(command.reference);
  }
}

try {
  await carryOut(parseCommand(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
  process.exitCode = 1;
}
