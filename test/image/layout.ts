import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Arch } from '../../tools/image/platforms.ts';

/** Folder into which `npm run image` writes. */
export const BUILT = fileURLToPath(new URL('../../build/image', import.meta.url));

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: Arch };
}

/** The image of one platform, as it was built. */
export interface Layout {
  readonly arch: Arch;
  readonly annotations: Readonly<Record<string, string>>;
  readonly config: {
    readonly Entrypoint: readonly string[];
    readonly Env: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
    readonly User: string;
  };
  /** Compressed, lowest first. */
  readonly layers: readonly { readonly file: string; readonly size: number }[];
}

/** @throws where `npm run image` has not been run */
export async function readLayouts(): Promise<readonly Layout[]> {
  const digest = (await readFile(join(BUILT, 'digest'), 'utf8')).trim();
  const { manifests } = await json<{ readonly manifests: readonly Descriptor[] }>(digest);
  return Promise.all(
    manifests.map(async (descriptor) => {
      const { config, layers, annotations } = await json<{
        readonly config: Descriptor;
        readonly layers: readonly Descriptor[];
        readonly annotations: Readonly<Record<string, string>>;
      }>(descriptor.digest);
      return {
        arch: descriptor.platform!.architecture,
        annotations,
        config: (await json<{ readonly config: Layout['config'] }>(config.digest)).config,
        layers: layers.map((layer) => ({ file: blob(layer.digest), size: layer.size })),
      };
    }),
  );
}

async function json<T>(digest: string): Promise<T> {
  return JSON.parse(await readFile(blob(digest), 'utf8')) as T;
}

function blob(digest: string): string {
  return join(BUILT, 'oci', 'blobs', ...digest.split(':'));
}

/** That of this machine. */
export function ofThisMachine(layouts: readonly Layout[]): Layout {
  return layouts.find(({ arch }) => arch === (process.arch === 'x64' ? 'amd64' : 'arm64'))!;
}

/** Lays the image's file system into a new folder. */
export async function unpack({ layers }: Layout, into: string): Promise<string> {
  await mkdir(into, { recursive: true });
  for (const { file } of layers) await promisify(execFile)('tar', ['-xzpf', file, '-C', into]);
  return into;
}
