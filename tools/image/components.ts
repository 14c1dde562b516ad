import type { BundledPackage } from './bundled.ts';
import { debianContents } from './contents.ts';
import type { Lock } from './lock.ts';
import type { DebianFile } from './materials.ts';
import type { Platform } from './platforms.ts';
import type { Component } from './sbom.ts';

/** What of Node's own versions is an interface and no part of it, or data that is stated elsewhere. */
const NO_PART = new Set(['node', 'modules', 'napi']);

/** Node as npm gives it out, and what it was built with. @param parts `process.versions` of the same release */
export function nodeComponent({ node }: Lock, platform: Platform, parts: NodeJS.ProcessVersions): Component {
  const contains = Object.entries(parts)
    .filter(([name, version]) => !NO_PART.has(name) && version)
    .map(([name, version]) => ({
      name,
      version: version ?? '',
      license: 'NOASSERTION',
      purl: `pkg:generic/${name}`,
    }));
  return {
    name: platform.nodePackage,
    version: node.version,
    license: 'MIT',
    purl: `pkg:npm/${platform.nodePackage}`,
    cpe: 'a:nodejs:node.js',
    checksum: sha512(node.integrity[platform.arch]),
    contains,
  };
}

export interface DebianRecord extends DebianFile {
  /** Name of the source package; with a version in parentheses where that is another. */
  readonly source: string;
}

/** Debian's packages of which something is in the image. @param release number of Debian's release */
export function debianComponents(platform: Platform, records: readonly DebianRecord[], release: string): Component[] {
  const licenses = new Map(debianContents(platform).map(({ name, license }) => [name, license]));
  return records.map(({ name, version, sha256, source }) => ({
    name,
    version,
    license: licenses.get(name) ?? 'NOASSERTION',
    purl: `pkg:deb/debian/${name}`,
    qualifiers: `arch=${platform.arch}&distro=debian-${release}`,
    checksum: { algorithm: 'SHA256', value: sha256 },
    sourceInfo: `built from Debian's source package ${source}`,
  }));
}

export function bundledComponents(packages: readonly BundledPackage[]): Component[] {
  return packages.map(({ name, version, license, integrity }) => ({
    name,
    version,
    license,
    purl: `pkg:npm/${name.replace('@', '%40')}`,
    checksum: sha512(integrity),
  }));
}

function sha512(integrity: string): NonNullable<Component['checksum']> {
  return { algorithm: 'SHA512', value: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') };
}
