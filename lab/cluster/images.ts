import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock } from '../../runtime/lib/clock.ts';
import type { RealNode } from './node/real-node.ts';
import type { ImageArchive } from './parts/images.ts';

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const LAYOUT = here('../../build/image/oci');
const MANIFESTS = here('../../dist/brupop.k8s.yaml');
const POLL_MS = 100;
const READY_WITHIN_MS = 60_000;

/** The built image of the operator, under the name that the manifests have. @throws where `npm run image` has not been run */
export async function operatorImage(dir: string): Promise<ImageArchive> {
  if (!existsSync(LAYOUT)) throw new Error('expected the image in build/image: npm run image');
  const [, name = ''] = /^ +image: (\S+)$/m.exec(await readFile(MANIFESTS, 'utf8')) ?? [];
  const file = join(dir, 'operator.tar');
  await run('tar', ['-C', LAYOUT, '-cf', file, '.']);
  return { name, file };
}

export interface Images {
  /** Of one image each, that bear its name. */
  readonly archives: readonly ImageArchive[];
  /** An index has no name but the one that it is given. */
  readonly operator: ImageArchive;
  readonly ctr: string;
}

/** Gives images to a node, so that it has to ask nobody for them. Waits for its containerd, which may just be starting. */
export async function importImages(node: RealNode, { archives, operator, ctr }: Images): Promise<void> {
  const images = (...args: readonly string[]): Promise<unknown> => imagesOf(node, ctr, args);
  const deadline = systemClock.monotonic() + READY_WITHIN_MS;
  for (;;) {
    try {
      await images('ls', '--quiet');
      break;
    } catch (error) {
      if (systemClock.monotonic() > deadline) throw error;
      await systemClock.sleep(POLL_MS);
    }
  }
  await images('import', '--index-name', operator.name, operator.file);
  for (const { file } of archives) await images('import', file);
}

/** Takes an image away from a node: a pod that starts there from then on has to pull it. */
export async function removeImage(node: RealNode, name: string, ctr: string): Promise<void> {
  await imagesOf(node, ctr, ['rm', '--sync', name]);
}

function imagesOf(node: RealNode, ctr: string, args: readonly string[]): Promise<unknown> {
  return run(ctr, ['--address', node.containerdSocket, '--namespace', 'k8s.io', 'images', ...args]);
}
