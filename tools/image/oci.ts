import type { Crane } from './crane.ts';
import type { Arch } from './platforms.ts';

/** What a container of the image is started with, and what the image says of itself. */
export interface ImageConfig {
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** UID and GID. */
  readonly user: string;
  /** Of the config, and as annotations of the manifest: tools look in either place. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface PlatformImage {
  readonly arch: Arch;
  /** Files, lowest first. */
  readonly layers: readonly string[];
  readonly config: ImageConfig;
}

/** Makes one image of all platforms in a registry, and returns its digest. @param repository e.g. `127.0.0.1:5000/brupop` */
export async function pushIndex(crane: Crane, repository: string, images: readonly PlatformImage[]): Promise<string> {
  const manifests: string[] = [];
  for (const image of images) manifests.push('--manifest', await pushImage(crane, repository, image));
  const [, digest = ''] = (await crane('index', 'append', ...manifests, '--tag', `${repository}:index`)).split('@');
  return digest;
}

async function pushImage(crane: Crane, repository: string, { arch, layers, config }: PlatformImage): Promise<string> {
  const bare = `${repository}:${arch}-bare`;
  await crane('append', '--oci-empty-base', ...layers.flatMap((file) => ['--new_layer', file]), '--new_tag', bare);
  const { entrypoint, env, user, labels } = config;
  return crane(
    'mutate',
    bare,
    `--set-platform=linux/${arch}`,
    `--user=${user}`,
    '--workdir=/',
    `--entrypoint=${entrypoint.join(',')}`,
    ...pairs('--env', env),
    ...pairs('--label', labels),
    ...pairs('--annotation', labels),
    `--tag=${repository}:${arch}`,
  );
}

/** One flag for each: crane takes commas for more of them, so that what has one is put in quotes. */
function pairs(flag: string, values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, quoted(`${name}=${value}`)]);
}

function quoted(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
