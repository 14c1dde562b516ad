import { createHash } from 'node:crypto';
import type { Arch } from './platforms.ts';

/** Something that the image contains. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** As SPDX has it. */
  readonly license: string;
  /** As a package URL, without its version, e.g. `pkg:npm/zod`. */
  readonly purl: string;
  /** What comes behind the version in the package URL, e.g. `arch=arm64`. */
  readonly qualifiers?: string;
  /** What vulnerability databases call it, where that is not its package URL; without its version, e.g. `a:nodejs:node.js`. */
  readonly cpe?: string;
  /** Of the file that it came in, hexadecimal. */
  readonly checksum?: { readonly algorithm: 'SHA256' | 'SHA512'; readonly value: string };
  /** Where its source is to be had. */
  readonly sourceInfo?: string;
  /** What it was built with and contains itself. */
  readonly contains?: readonly Component[];
}

export interface BillOptions {
  readonly arch: Arch;
  /** Of the image. */
  readonly version: string;
  readonly license: string;
  /** RFC 3339. */
  readonly created: string;
  readonly components: readonly Component[];
}

interface SpdxPackage {
  readonly SPDXID: string;
  readonly [field: string]: unknown;
}

/** The bill of materials of an image in SPDX 2.3: the same for the same contents. */
export function billOfMaterials({ arch, version, license, created, components }: BillOptions): object {
  const image: Component = { name: 'brupop', version, license, purl: 'pkg:oci/brupop', qualifiers: `arch=${arch}` };
  const identity = createHash('sha256')
    .update(JSON.stringify([image, components]))
    .digest('hex');
  const entries = components.flatMap((component) => [component, ...(component.contains ?? [])]);
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `brupop-${version}-linux-${arch}`,
    documentNamespace: `https://spdx.org/spdxdocs/brupop-${version}-linux-${arch}-${identity}`,
    creationInfo: { created, creators: ['Organization: cdk8s-brupop', `Tool: cdk8s-brupop-${version}`] },
    packages: [{ ...spdxPackage(image), primaryPackagePurpose: 'CONTAINER' }, ...entries.map(spdxPackage)],
    relationships: [
      relationship('SPDXRef-DOCUMENT', 'DESCRIBES', idOf(image)),
      ...[{ ...image, contains: components }, ...components].flatMap(containment),
    ],
  };
}

function spdxPackage(component: Component): SpdxPackage {
  const { name, version, license, checksum, sourceInfo } = component;
  return {
    SPDXID: idOf(component),
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license,
    copyrightText: 'NOASSERTION',
    ...(sourceInfo !== undefined && { sourceInfo }),
    ...(checksum && { checksums: [{ algorithm: checksum.algorithm, checksumValue: checksum.value }] }),
    externalRefs: externalReferences(component),
  };
}

function externalReferences(component: Component): readonly object[] {
  const { cpe, version } = component;
  const vulnerable = cpe === undefined ? [] : [`cpe:2.3:${cpe}:${version}:*:*:*:*:*:*:*`];
  return [
    { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purlOf(component) },
    ...vulnerable.map((name) => ({
      referenceCategory: 'SECURITY',
      referenceType: 'cpe23Type',
      referenceLocator: name,
    })),
  ];
}

function containment(component: Component): readonly object[] {
  return (component.contains ?? []).map((part) => relationship(idOf(component), 'CONTAINS', idOf(part)));
}

function relationship(spdxElementId: string, relationshipType: string, relatedSpdxElement: string): object {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

function idOf({ purl, version }: Component): string {
  return `SPDXRef-${`${purl.slice('pkg:'.length)}-${version}`.replaceAll(/[^a-zA-Z0-9.]+/g, '-')}`;
}

function purlOf({ purl, version, qualifiers }: Component): string {
  return `${purl}@${encodeURIComponent(version)}${qualifiers === undefined ? '' : `?${qualifiers}`}`;
}
