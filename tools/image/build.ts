import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bundledPackages } from './bundled.ts';
import { findCrane, withRegistry } from './crane.ts';
import { inTemporaryFolder } from './downloads.ts';
import type { PackageJson } from './labels.ts';
import { type FetchOptions, fetchMaterials } from './materials.ts';
import { pushIndex } from './oci.ts';
import { platformImage, type PlatformParts } from './platform-image.ts';
import { PLATFORMS } from './platforms.ts';
import { sourceOf } from './source.ts';

export interface BuildOptions extends FetchOptions {
  /** Folder of the project, with the bundles in `build/`. */
  readonly root: string;
  /** Folder to write into; what is in it is replaced. */
  readonly out: string;
  readonly env: NodeJS.ProcessEnv;
}

/** An image of all platforms, in files. */
export interface BuiltImage {
  /** Of its index: what a registry knows it by. */
  readonly digest: string;
  /** Bytes of the compressed layers by their names, for each architecture. */
  readonly sizes: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/**
 * Builds the image into `out`: `oci/` is an OCI layout, `digest` its digest, and `sbom-ARCH.spdx.json` what is in it.
 * @throws WrongDigestError, PinGoneError, NoSuchPackageError
 */
export async function buildImage(options: BuildOptions): Promise<BuiltImage> {
  const { out, env } = options;
  const { file, crane } = await findCrane(env);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  return inTemporaryFolder(async (dir) => {
    const images = await platformImages(options, dir);
    const digest = await withRegistry(file, join(dir, 'registry'), async (host) => {
      const pushed = await pushIndex(crane, `${host}/brupop`, images);
      await crane('pull', '--format', 'oci', `${host}/brupop@${pushed}`, join(out, 'oci'));
      return pushed;
    });
    for (const { arch, sbom } of images) await writeFile(join(out, `sbom-${arch}.spdx.json`), sbom);
    await writeFile(join(out, 'digest'), `${digest}\n`);
    return { digest, sizes: await sizesOf(images) };
  });
}

async function platformImages(options: BuildOptions, dir: string): Promise<readonly PlatformParts[]> {
  const { root, env, lock } = options;
  // What Node was built with is asked of the one that runs here.
  if (process.versions.node !== lock.node.version)
    throw new Error(`expected Node ${lock.node.version}, as the scripts of npm have it, got ${process.versions.node}`);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as PackageJson;
  const facts = { root, lock, manifest, source: await sourceOf(root, env), bundled: await bundledPackages(root) };
  return Promise.all(
    PLATFORMS.map(async (platform) => {
      const own = join(dir, platform.arch);
      await mkdir(own);
      return platformImage(platform, { ...facts, dir: own, materials: await fetchMaterials(platform, options) });
    }),
  );
}

async function sizesOf(images: readonly PlatformParts[]): Promise<BuiltImage['sizes']> {
  const entries = images.map(async ({ arch, layers }) => {
    const sizes = layers.map(async (file) => [basename(file, '.tar.gz'), (await stat(file)).size] as const);
    return [arch, Object.fromEntries(await Promise.all(sizes))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
