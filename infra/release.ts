import type { BrupopProps } from './props/brupop.ts';

/** The image that a release's manifests name: by the digest in `IMAGE_DIGEST`, and without one by the tag that is this version. */
export function releasedImage(env: Readonly<Record<string, string | undefined>>): Pick<BrupopProps, 'image'> {
  const digest = env['IMAGE_DIGEST'];
  return digest ? { image: { digest } } : {};
}
