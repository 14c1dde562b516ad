import * as z from 'zod';
import { VERSION } from '../../runtime/lib/version.ts';
import { matching, objectName } from './fields.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const HOST = /^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d{1,5})?$/;
const PATH = /^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;
/** Any tag but `latest`, which says nothing about what runs; with a digest behind it, as tools that pin images write it. */
const TAG = /^(?!latest$)\w[\w.-]{0,127}(@sha256:[0-9a-f]{64})?$/;

/** The one image that holds all three processes. */
export interface ImageProps {
  /** Registry, also a regional or mirrored one. @default ghcr.io */
  readonly registry?: string;
  /** Path in the registry. @default cdk8s-brupop/brupop */
  readonly repository?: string;
  /** Not `latest`, which says nothing about what runs; also `0.1.0@sha256:...`. @default the version of this package */
  readonly tag?: string;
  /** `sha256:...`; the image is then named by it and not by its tag. @default none */
  readonly digest?: string | undefined;
  /** When the kubelet asks the registry. @default IfNotPresent */
  readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** Names of Secrets with the registry's credentials, in the operator's namespace. @default none */
  readonly pullSecrets?: readonly string[];
}

/** The same with every default; where there is a digest, it names the image. */
export type ImageSettings = Required<Omit<ImageProps, 'digest'>> & Pick<ImageProps, 'digest'>;

/** @internal */
export const imageProps = z
  .strictObject({
    registry: matching(HOST, 'a registry such as ghcr.io or mirror.example.com:5000').default('ghcr.io'),
    repository: matching(PATH, 'a repository such as cdk8s-brupop/brupop').default('cdk8s-brupop/brupop'),
    tag: matching(TAG, 'a tag other than "latest"').default(VERSION),
    digest: matching(DIGEST, 'a digest: sha256: and 64 hexadecimal digits').optional(),
    pullPolicy: z
      .enum(['Always', 'IfNotPresent', 'Never'], 'expected Always, IfNotPresent or Never')
      .default('IfNotPresent'),
    pullSecrets: z.array(objectName).readonly().default([]),
  } satisfies Record<keyof ImageProps, z.ZodType>)
  .prefault({});

/** The reference that a container states. @internal */
export function imageReference(image: ImageSettings): string {
  const name = `${image.registry}/${image.repository}`;
  return image.digest === undefined ? `${name}:${image.tag}` : `${name}@${image.digest}`;
}
