import { beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { VERSION } from '../../runtime/lib/version.ts';
import { writeAssets } from '../../scripts/release/assets.ts';
import { notesOf } from '../../scripts/release/changelog.ts';
import { faultsOf } from '../../scripts/release/check.ts';
import { signatures } from '../../scripts/release/registry.ts';
import { writeVersion } from '../../scripts/release/version.ts';
import { folder } from '../folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const read = (path: string): string => readFileSync(join(folder, path), 'utf8');

describe('npm version', () => {
  /** A copy of what states the version, of which package.json has been brought to the next by npm. */
  beforeEach(() => {
    for (const path of ['package.json', 'runtime/lib/version.ts', 'CHANGELOG.md', 'dist/brupop.k8s.yaml'])
      cpSync(join(ROOT, path), join(folder, path));
    write('package.json', read('package.json').replace(`"version": "${VERSION}"`, '"version": "9.8.7"'));
  });

  test('brings the program and the changelog to the new version, and opens a new section', async () => {
    const unreleased = notesOf(read('CHANGELOG.md'), 'Unreleased');
    await writeVersion(folder, '2030-01-02');
    expect(read('runtime/lib/version.ts')).toContain("VERSION = '9.8.7'");
    expect(read('CHANGELOG.md')).toContain('## Unreleased\n\n## 9.8.7 - 2030-01-02\n\n');
    expect(notesOf(read('CHANGELOG.md'), '9.8.7')).toBe(unreleased);
    expect(notesOf(read('CHANGELOG.md'), 'Unreleased')).toBeUndefined();
  });

  test('leaves nothing that the check of a release objects to, once the manifests are synthesised', async () => {
    await writeVersion(folder, '2030-01-02');
    write('dist/brupop.k8s.yaml', read('dist/brupop.k8s.yaml').replaceAll(`brupop:${VERSION}`, 'brupop:9.8.7'));
    expect(await faultsOf(folder, 'v9.8.7')).toEqual([]);
  });

  test('is what the check of a release asks for, everything at once', async () => {
    expect(await faultsOf(folder, 'v9.8.6')).toEqual([
      expect.stringContaining('expected v9.8.7'),
      expect.stringContaining('version.ts: expected 9.8.7'),
      expect.stringContaining('CHANGELOG.md'),
      expect.stringContaining('dist/'),
    ]);
  });
});

test('the files of a release name the image by its digest, and their own digests are right', async () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  write('image/digest', `${digest}\n`);
  for (const arch of ['amd64', 'arm64']) write(`image/sbom-${arch}.spdx.json`, '{}');
  await writeAssets({ root: ROOT, image: join(folder, 'image'), out: join(folder, 'out') });

  const image = `ghcr.io/cdk8s-brupop/brupop@${digest}`;
  const named = parseAllDocuments(read('out/brupop.k8s.yaml'))
    .map((document) => document.toJS())
    .flatMap(({ spec }) => spec?.template?.spec?.containers ?? []);
  expect(named.map((container) => container.image)).toEqual([image, image, image]);
  execFileSync('tar', ['-xzf', `brupop-${VERSION}.tgz`], { cwd: join(folder, 'out') });
  expect(read('out/brupop/values.yaml')).toContain(`digest: "${digest}"`);
  rmSync(join(folder, 'out/brupop'), { recursive: true });
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(folder, 'out') });
  const listed = read('out/SHA256SUMS').trim().split('\n').length;
  expect(globSync('*', { cwd: join(folder, 'out') })).toHaveLength(listed + 1);
});

test('the image is signed under its digest, which no tag can be moved away from', () => {
  expect(signatures('ghcr.io/a/b:1.0.0', 'sha256:ab', 'SHA256SUMS')).toEqual([
    ['sign', '--yes', 'ghcr.io/a/b@sha256:ab'],
    ['sign-blob', '--yes', '--bundle', 'SHA256SUMS.sigstore.json', 'SHA256SUMS'],
  ]);
});
