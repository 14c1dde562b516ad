import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A package of npm's of which something is in the bundles. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json has it. */
  readonly license: string;
  /** Of npm's tarball: `sha512-` and base64. */
  readonly integrity: string;
  /** Its own words; undefined where it brings no such file. */
  readonly licenseText: string | undefined;
}

/** As much of esbuild's metafile as tells where the bytes of the bundles come from. */
interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, { bytesInOutput: number }>> }>>;
}

const LICENSE_FILE = /^(un)?licen[cs]e(\.\w+)?$/i;

/** The packages that the bundles in `build/` are made of, by name. @param root folder of the project */
export async function bundledPackages(root: string): Promise<readonly BundledPackage[]> {
  const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(root, file), 'utf8'));
  const { outputs } = (await read('build/processes.json')) as Metafile;
  const { packages } = (await read('package-lock.json')) as { packages: Record<string, { integrity: string }> };
  const folders = new Set(Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs).flatMap(folderOf)));
  const found = [...folders].map(async (folder) => {
    const { name, version, license } = (await read(`${folder}/package.json`)) as BundledPackage;
    const integrity = packages[folder]?.integrity ?? '';
    return { name, version, license, integrity, licenseText: await licenseText(join(root, folder)) };
  });
  // More than one package may have brought the same.
  const each = new Map((await Promise.all(found)).map((entry) => [`${entry.name}@${entry.version}`, entry]));
  return [...each].toSorted(([a], [b]) => order(a, b)).map(([, entry]) => entry);
}

/** By code units: what a machine's language says of the alphabet must not change the image. */
function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Folder of the package that an input belongs to; none for our own, and for what esbuild has left out. */
function folderOf([path, { bytesInOutput }]: [string, { readonly bytesInOutput: number }]): readonly string[] {
  const [folder] = /^(.*\/)?node_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
  return folder !== undefined && bytesInOutput > 0 ? [folder] : [];
}

async function licenseText(folder: string): Promise<string | undefined> {
  const name = (await readdir(folder)).find((candidate) => LICENSE_FILE.test(candidate));
  return name === undefined ? undefined : readFile(join(folder, name), 'utf8');
}

/** One file with the licence of each package. */
export function licenses(packages: readonly BundledPackage[]): string {
  const line = '='.repeat(80);
  return packages
    .map(({ name, version, license, licenseText: text }) => {
      const words = text ?? `Its package brings no licence file; package.json says: ${license}`;
      return `${line}\n${name} ${version} (${license})\n${line}\n\n${words.trim()}\n`;
    })
    .join('\n');
}
