import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, globSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { debianContents } from './contents.ts';
import { inTemporaryFolder } from './downloads.ts';
import type { DebianFile } from './materials.ts';
import type { Platform } from './platforms.ts';
import { run } from './run.ts';

/** Files of a layer that this project writes, by their paths in the image. */
export type OwnFiles = Readonly<Record<string, string>>;

/** Node and its licence, out of npm's tarball. */
export async function stageNode(tarball: string, into: string): Promise<void> {
  await inTemporaryFolder(async (dir) => {
    await run('tar', ['-xzf', tarball, '-C', dir, '--strip-components=1', 'package/bin/node', 'package/LICENSE']);
    await place(join(dir, 'bin/node'), join(into, 'usr/local/bin/node'));
    await place(join(dir, 'LICENSE'), join(into, 'usr/share/doc/node/copyright'));
  });
}

/** What the image takes of Debian's packages, with a record of each as scanners look for where there is no dpkg. */
export async function stageDebian(platform: Platform, debian: readonly DebianFile[], into: string): Promise<void> {
  for (const { name, paths } of debianContents(platform)) {
    const file = debian.find((candidate) => candidate.name === name)?.file ?? '';
    await inTemporaryFolder(async (dir) => {
      await run('dpkg-deb', ['-x', file, dir]);
      for (const pattern of [...paths, `usr/share/doc/${name}`]) await placeAll(dir, pattern, into);
      if (name === 'ca-certificates') await writeCertificates(dir, into);
    });
    await write(into, `var/lib/dpkg/status.d/${name}`, await run('dpkg-deb', ['-f', file]));
  }
}

/** Of the documents, the copyright; a package may have those of another in place of its own. */
const DOCUMENT = /\/usr\/share\/doc\/[^/]+\/(?!copyright$)/;

async function placeAll(from: string, pattern: string, into: string): Promise<void> {
  const found = globSync(pattern, { cwd: from });
  if (found.length === 0) throw new Error(`no ${pattern} in the package: tools/image/contents.ts is to be mended`);
  for (const path of found) await place(join(from, path), join(into, path));
}

async function place(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !DOCUMENT.test(path) });
}

/** All that Debian trusts, in the one file in which programs look. */
async function writeCertificates(from: string, into: string): Promise<void> {
  const names = globSync('usr/share/ca-certificates/**/*.crt', { cwd: from }).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(from, name), 'utf8')));
  await write(into, 'etc/ssl/certs/ca-certificates.crt', texts.map((text) => `${text.trim()}\n`).join(''));
}

/** The bundles of `build/` with what names the lines of their sources, and files of our own. */
export async function stagePrograms(build: string, own: OwnFiles, into: string): Promise<void> {
  const programs = ['brupop', 'controller', 'agent', 'apiserver', 'client-node', 'repository'];
  const files = programs.flatMap((program) => [`${program}.mjs`, `${program}.mjs.map`]);
  for (const name of [...files, 'kubectl-brupop.mjs']) await place(join(build, name), join(into, 'opt/brupop', name));
  for (const [path, text] of Object.entries(own)) await write(into, path, text);
}

async function write(into: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(into, path)), { recursive: true });
  await writeFile(join(into, path), text);
}

/** Of tar: the same for the same files, whoever packs them and when: order, owner, modes and times are stated. */
export const REPRODUCIBLE = [
  '--sort=name',
  '--format=gnu',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mode=u=rwX,go=rX',
  '--mtime=@0',
];

/** Packs a folder as a layer, and removes the folder. GNU's gzip compresses alike on every processor, which zlib does not. */
export async function pack(dir: string, file: string): Promise<void> {
  const names = (await readdir(dir)).toSorted();
  const tar = spawn('tar', ['-C', dir, ...REPRODUCIBLE, '-c', ...names], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gzip = spawn('gzip', ['-n'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = [once(tar, 'close'), once(gzip, 'close')];
  await Promise.all([pipeline(tar.stdout, gzip.stdin), pipeline(gzip.stdout, createWriteStream(file))]);
  for (const [code] of await Promise.all(ended)) if (code !== 0) throw new Error(`tar or gzip ended with ${code}`);
  await rm(dir, { recursive: true });
}
