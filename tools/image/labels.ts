import type { Source } from './source.ts';

export interface LabelOptions {
  readonly manifest: PackageJson;
  readonly source: Source;
  /** An SPDX expression of everything that is in the image. */
  readonly licenses: string;
}

/** As much of package.json as the image says of itself. */
export interface PackageJson {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly repository?: { readonly url: string };
}

const PREFIX = 'org.opencontainers.image';

/** What the image says of itself, in the words of the OCI. @see https://specs.opencontainers.org/image-spec/annotations */
export function labelsOf({ manifest, source, licenses }: LabelOptions): Readonly<Record<string, string>> {
  const home = manifest.repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');
  const { created, revision } = source;
  return {
    [`${PREFIX}.title`]: 'brupop',
    [`${PREFIX}.description`]: 'An update operator for Bottlerocket nodes: its controller, agent and apiserver',
    [`${PREFIX}.version`]: manifest.version,
    [`${PREFIX}.created`]: created,
    ...(revision !== undefined && { [`${PREFIX}.revision`]: revision }),
    ...(home !== undefined && { [`${PREFIX}.source`]: home, [`${PREFIX}.url`]: home }),
    [`${PREFIX}.licenses`]: licenses,
  };
}

/** All licences at once, each once. */
export function allOf(licenses: readonly string[]): string {
  const each = [...new Set(licenses)].toSorted();
  return each.map((license) => (/ OR /.test(license) ? `(${license})` : license)).join(' AND ');
}
