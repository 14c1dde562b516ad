import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BundledPackage, licenses } from './bundled.ts';
import { bundledComponents, debianComponents, nodeComponent } from './components.ts';
import { allOf, labelsOf, type PackageJson } from './labels.ts';
import type { Lock } from './lock.ts';
import { pack, stageDebian, stageNode, stagePrograms } from './layers.ts';
import type { DebianFile, Materials } from './materials.ts';
import type { ImageConfig, PlatformImage } from './oci.ts';
import type { Platform } from './platforms.ts';
import { run } from './run.ts';
import { billOfMaterials, type Component } from './sbom.ts';
import type { Source } from './source.ts';

/** A user and group of no name in the image: nothing on a node belongs to it. The manifests state the same. */
const NOBODY = '65532:65532';

export interface PlatformImageOptions {
  /** Folder of the project, with the bundles in `build/`. */
  readonly root: string;
  /** Folder for the layers; it must exist. */
  readonly dir: string;
  readonly lock: Lock;
  readonly manifest: PackageJson;
  readonly source: Source;
  /** npm's packages in the bundles. */
  readonly bundled: readonly BundledPackage[];
  readonly materials: Materials;
}

/** What an image of one platform is made of, and says that it is. */
export interface PlatformParts extends PlatformImage {
  /** Bill of materials, SPDX in JSON. */
  readonly sbom: string;
}

/** Makes the layers of one platform: the same files for the same materials. */
export async function platformImage(platform: Platform, options: PlatformImageOptions): Promise<PlatformParts> {
  const { root, materials, manifest, source } = options;
  const components = await componentsOf(platform, options);
  const license = allOf([manifest.license, ...components.map((component) => component.license)]);
  const bill = { arch: platform.arch, version: manifest.version, created: source.created, license, components };
  const sbom = `${JSON.stringify(billOfMaterials(bill), null, 2)}\n`;
  const own = await ownFiles(options, sbom);
  const layers = [
    await layer('node', options, (into) => stageNode(materials.node, into)),
    await layer('debian', options, (into) => stageDebian(platform, materials.debian, into)),
    await layer('programs', options, (into) => stagePrograms(join(root, 'build'), own, into)),
  ];
  return { arch: platform.arch, layers, sbom, config: configOf(options, license) };
}

/** What changes least is lowest: a node that has an older image fetches the highest alone. */
async function layer(
  name: string,
  { dir }: PlatformImageOptions,
  stage: (into: string) => Promise<void>,
): Promise<string> {
  const folder = join(dir, name);
  const file = `${folder}.tar.gz`;
  await mkdir(folder);
  await stage(folder);
  await pack(folder, file);
  return file;
}

async function componentsOf(platform: Platform, options: PlatformImageOptions): Promise<readonly Component[]> {
  const { lock, materials, bundled } = options;
  const records = await Promise.all(
    materials.debian.map(async (file) => Object.assign({ source: await sourcePackage(file) }, file)),
  );
  return [
    nodeComponent(lock, platform, process.versions),
    ...debianComponents(platform, records, lock.debian.release),
    ...bundledComponents(bundled),
  ];
}

/** A package that says nothing of its source has one of the same name and version. */
async function sourcePackage({ file, name, version }: DebianFile): Promise<string> {
  const source = (await run('dpkg-deb', ['-f', file, 'Source'])).trim() || name;
  return source.includes('(') ? source : `${source} (${version})`;
}

async function ownFiles({ root, bundled }: PlatformImageOptions, sbom: string): Promise<Record<string, string>> {
  const documents = 'usr/share/doc/brupop';
  return {
    'etc/nsswitch.conf': 'hosts: files dns\n',
    [`${documents}/copyright`]: await readFile(join(root, 'LICENSE'), 'utf8'),
    [`${documents}/third-party-licenses.txt`]: licenses(bundled),
    [`${documents}/sbom.spdx.json`]: sbom,
  };
}

function configOf({ manifest, source }: PlatformImageOptions, license: string): ImageConfig {
  return {
    entrypoint: ['node', '/opt/brupop/brupop.mjs'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    user: NOBODY,
    labels: labelsOf({ manifest, source, licenses: license }),
  };
}
