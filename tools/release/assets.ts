import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { REPRODUCIBLE } from '../image/layers.ts';
import { notesOf } from './changelog.ts';
import { archiveOf, TARGETS } from './executables.ts';
import { krewManifest, PLUGIN, sha256Of } from './krew.ts';
import { packageVersion } from './version.ts';

const run = promisify(execFile);

export interface AssetsOptions {
  /** Folder of the project, with `build/`. */
  readonly root: string;
  /** Folder that `npm run image` has written. */
  readonly image: string;
  /** Folder that `npm run release -- executables` has written. */
  readonly executables: string;
  /** Folder for the files; what is in it is replaced. */
  readonly out: string;
}

/**
 * Writes the files of a release: the manifests and the Helm chart, both with the image's digest in place of its tag, the package as npm
 * gets it, the executables of `kubectl brupop` with their krew manifest, the image's bills of materials, the notes, and the digests of all of it.
 */
export async function writeAssets({ root, image, executables, out }: AssetsOptions): Promise<void> {
  const version = await packageVersion(root);
  const digest = (await readFile(join(image, 'digest'), 'utf8')).trim();
  const env = { ...process.env, IMAGE_DIGEST: digest };
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const dir = await mkdtemp(join(tmpdir(), 'brupop-release-'));
  try {
    await run('node', ['build/synth.mjs'], { cwd: root, env: { ...env, CDK8S_OUTDIR: join(dir, 'manifests') } });
    await copyFile(join(dir, 'manifests', 'brupop.k8s.yaml'), join(out, 'brupop.k8s.yaml'));
    await run('node', ['build/helm.mjs', join(dir, 'brupop')], { cwd: root, env });
    const chart = join(out, `brupop-${version}.tgz`);
    await run('tar', ['-C', dir, ...REPRODUCIBLE, '-I', 'gzip -n', '-cf', chart, 'brupop']);
  } finally {
    await rm(dir, { recursive: true });
  }
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', out], { cwd: root });
  for (const target of TARGETS) await copyFile(join(executables, archiveOf(target)), join(out, archiveOf(target)));
  await writeFile(join(out, `${PLUGIN}.yaml`), await krewManifest(out, version));
  for (const arch of ['amd64', 'arm64'])
    await copyFile(join(image, `sbom-${arch}.spdx.json`), join(out, `image-${arch}.spdx.json`));
  const notes = notesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version) ?? '';
  await writeFile(join(out, 'notes.md'), `${notes}\n\nImage: \`${digest}\`\n`);
  await writeFile(join(out, 'SHA256SUMS'), await sums(out));
}

/** As `sha256sum --check` reads them. */
async function sums(out: string): Promise<string> {
  const lines = (await readdir(out)).toSorted().map(async (name) => {
    return `${await sha256Of(join(out, name))}  ${name}\n`;
  });
  return (await Promise.all(lines)).join('');
}
