import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Crane, findCrane, withRegistry } from '../../../tools/image/crane.ts';
import { inTemporaryFolder } from '../../../tools/image/downloads.ts';
import { REPRODUCIBLE } from '../../../tools/image/layers.ts';
import type { Arch } from '../../../tools/image/platforms.ts';
import { run } from '../../../tools/image/run.ts';
import { type Binaries, type BuildOptions, requiredVersion } from '../../../tools/go/build.ts';
import { cacheFolder, removeUnused } from '../../../tools/go/cache.ts';
import { programs } from '../../../test/e2e/controlplane/build.ts';
import { podPrograms, prometheusProgram } from './programs.ts';

/** An image with one program in it, which starts as in the image of its makers. */
interface ImageSource {
  readonly name: string;
  /** Its name among those that were built. */
  readonly program: string;
  /** Path of the program in the image. */
  readonly entrypoint: string;
  readonly user: string;
  /** Texts of files besides, by their paths in the image. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An archive that `ctr -n k8s.io images import` takes. */
export interface ImageArchive {
  /** As manifests name the image. */
  readonly name: string;
  readonly file: string;
}

/** What a node's containerd holds the namespaces of a pod with. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10.2';

/** Images of pause, CoreDNS and cert-manager, by the names that their manifests have. @throws as `binaries` */
export async function podImages(options: BuildOptions): Promise<readonly ImageArchive[]> {
  const binaries = { ...(await programs(options)), ...(await podPrograms(options)) };
  const archives: ImageArchive[] = [];
  for (const source of await sources()) archives.push(await archived(source, binaries, options));
  return archives;
}

/** The same of Prometheus, for who watches the operator by it. @throws as `binaries` */
export async function prometheusArchive(options: BuildOptions): Promise<ImageArchive> {
  const source: ImageSource = {
    name: await prometheusImage(),
    program: 'prometheus',
    entrypoint: '/bin/prometheus',
    user: 'nobody',
    files: { 'etc/passwd': 'nobody:x:65534:65534:nobody:/home:/bin/false\n' },
  };
  return archived(source, await prometheusProgram(options), options);
}

async function sources(): Promise<readonly ImageSource[]> {
  const certManager = await requiredVersion('cert-manager', 'github.com/cert-manager/cert-manager');
  const jetstack = (part: string, program: string): ImageSource => ({
    name: `quay.io/jetstack/cert-manager-${part}:${certManager}`,
    program,
    entrypoint: `/app/cmd/${part}/${part}`,
    user: '1000',
  });
  return [
    { name: PAUSE_IMAGE, program: 'pause', entrypoint: '/pause', user: '65535:65535' },
    { name: await corednsImage(), program: 'coredns', entrypoint: '/coredns', user: '65532:65532' },
    jetstack('controller', 'cert-manager'),
    jetstack('cainjector', 'cainjector'),
    jetstack('webhook', 'webhook'),
  ];
}

export async function corednsImage(): Promise<string> {
  return `registry.k8s.io/coredns/coredns:${await requiredVersion('coredns', 'github.com/coredns/coredns')}`;
}

/** Release 3.5.0 is the module's v0.305.0. */
export async function prometheusImage(): Promise<string> {
  const version = await requiredVersion('prometheus', 'github.com/prometheus/prometheus');
  const [, major, minor, patch] = /^v0\.(\d)(\d\d)\.(\d+)$/.exec(version) ?? [];
  return `docker.io/prom/prometheus:v${Number(major)}.${Number(minor)}.${patch}`;
}

/** Made once for each state of the program and of what is said of it. */
async function archived(
  source: ImageSource,
  binaries: Binaries,
  { env, progress }: BuildOptions,
): Promise<ImageArchive> {
  const program = binaries[source.program] ?? '';
  const module = `image-${source.program}`;
  const file = join(await cacheFolder({ module, state: [program, JSON.stringify(source)] }, env), 'image.tar');
  if (!existsSync(file)) {
    progress(`packing ${source.name}`);
    await inTemporaryFolder(async (dir) => {
      const layer = await layerOf(source, program, dir);
      const { file: registry, crane } = await findCrane(env);
      await withRegistry(registry, join(dir, 'registry'), (host) =>
        archive(crane, source, { layer, bare: `${host}/bare:1`, file: `${file}.${process.pid}` }),
      );
    });
    await rename(`${file}.${process.pid}`, file);
    await removeUnused(module, env);
  }
  return { name: source.name, file };
}

/** Not compressed: it never leaves this machine. */
async function layerOf({ entrypoint, files = {} }: ImageSource, program: string, dir: string): Promise<string> {
  const root = join(dir, 'root');
  const target = join(root, entrypoint);
  await mkdir(dirname(target), { recursive: true });
  await copyFile(program, target);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const layer = join(dir, 'layer.tar');
  await run('tar', ['-C', root, ...REPRODUCIBLE, '-cf', layer, '.']);
  return layer;
}

interface Archive {
  readonly layer: string;
  /** Where the image is kept before it is configured: crane configures what a registry has. */
  readonly bare: string;
  readonly file: string;
}

async function archive(crane: Crane, source: ImageSource, { layer, bare, file }: Archive): Promise<void> {
  const arch: Arch = process.arch === 'x64' ? 'amd64' : 'arm64';
  await crane('append', '--oci-empty-base', '--new_layer', layer, '--new_tag', bare);
  await crane(
    'mutate',
    bare,
    `--set-platform=linux/${arch}`,
    `--user=${source.user}`,
    `--entrypoint=${source.entrypoint}`,
    `--tag=${source.name}`,
    `--output=${file}`,
  );
}
