import type { Platform } from './platforms.ts';

/** What the image takes from a package of Debian's. Its copyright file and its record, which scanners read, come besides. */
export interface DebianContents {
  readonly name: string;
  /** Patterns of paths in the package. Each has to be there. */
  readonly paths: readonly string[];
  /** Of what is taken, as SPDX has it. */
  readonly license: string;
}

const GCC = 'GPL-3.0-or-later WITH GCC-exception-3.1';

/**
 * What Node links to, the certificates that programs look for, and who made it all. Node has time zones of its own. No shell, no package
 * manager and no other program.
 */
export function debianContents({ triplet, linker }: Platform): readonly DebianContents[] {
  const c = (name: string): string => `lib/${triplet}/${name}`;
  return [
    {
      name: 'base-files',
      paths: ['etc/os-release', 'usr/lib/os-release', 'usr/share/common-licenses'],
      license: 'GPL-2.0-or-later',
    },
    // One file out of all of them, as its installation would make it: `stageDebian`.
    { name: 'ca-certificates', paths: [], license: 'MPL-2.0' },
    // Has the copyright file of the two libraries of the compiler.
    { name: 'gcc-12-base', paths: [], license: GCC },
    {
      name: 'libc6',
      paths: [
        linker,
        c('ld-linux-*'),
        ...['libc', 'libdl', 'libm', 'libpthread', 'libresolv'].map((name) => c(`${name}.so.*`)),
      ],
      license: 'LGPL-2.1-or-later',
    },
    { name: 'libgcc-s1', paths: [c('libgcc_s.so.*')], license: GCC },
    { name: 'libstdc++6', paths: [`usr/lib/${triplet}/libstdc++.so.*`], license: GCC },
  ];
}
