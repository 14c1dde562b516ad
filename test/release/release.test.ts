import { beforeEach, describe, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { VERSION } from '../../runtime/lib/version.ts';
import { writeAssets } from '../../tools/release/assets.ts';
import { notesOf } from '../../tools/release/changelog.ts';
import { faultsOf } from '../../tools/release/check.ts';
import { archiveOf, TARGETS } from '../../tools/release/executables.ts';
import { krewManifest, PLUGIN } from '../../tools/release/krew.ts';
import { pushChart } from '../../tools/release/chart-artifact.ts';
import { npmCommand, releaseCommand } from '../../tools/release/publish.ts';
import { signatures } from '../../tools/release/registry.ts';
import { writeVersion } from '../../tools/release/version.ts';
import { findCrane, withRegistry } from '../../tools/image/crane.ts';
import { helmChart } from '../../infra/helm/chart.ts';
import { folder } from '../folder.ts';
import { noHelm } from '../shell.ts';
import { type KrewManifest, krewFaults } from './krew-rules.ts';

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
  for (const target of TARGETS) write(`executables/${archiveOf(target)}`, target.name);
  const folders = { image: join(folder, 'image'), executables: join(folder, 'executables'), out: join(folder, 'out') };
  await writeAssets({ root: ROOT, ...folders });

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

describe('krew', () => {
  const manifest = async (): Promise<KrewManifest> => {
    for (const target of TARGETS) write(archiveOf(target), target.name);
    return parse(await krewManifest(folder, VERSION)) as KrewManifest;
  };

  test('objects to nothing, and finds each archive by its digest at the release', async () => {
    const whole = await manifest();
    expect(krewFaults(PLUGIN, whole)).toEqual([]);
    const { spec } = whole;
    const digest = createHash('sha256').update('linux-arm64').digest('hex');
    expect(spec?.platforms).toHaveLength(TARGETS.length);
    expect(spec?.platforms).toContainEqual({
      selector: { matchLabels: { os: 'linux', arch: 'arm64' } },
      uri: `https://github.com/cdk8s-brupop/brupop/releases/download/v${VERSION}/kubectl-brupop-linux-arm64.tar.gz`,
      sha256: digest,
      bin: 'kubectl-brupop',
    });
    expect(spec?.platforms?.map(({ bin }) => bin)).toContain('kubectl-brupop.exe');
  });

  test.each<[string, (whole: KrewManifest) => KrewManifest]>([
    ['metadata.name', (whole) => ({ ...whole, metadata: { name: 'Brupop' } })],
    ['spec.version', (whole) => ({ ...whole, spec: { ...whole.spec, version: '1.0.0' } })],
    [
      'spec.shortDescription',
      (whole) => ({ ...whole, spec: { ...whole.spec, shortDescription: 'two words '.repeat(8) } }),
    ],
    ['spec.platforms', (whole) => ({ ...whole, spec: { ...whole.spec, platforms: [] } })],
    ['several platforms select linux/arm64', (whole) => first(whole, { selector: { matchLabels: { os: 'linux' } } })],
    ['spec.platforms[0].selector', (whole) => first(whole, { selector: { matchLabels: { cpu: 'x64' } } })],
    ['spec.platforms[0].sha256', (whole) => first(whole, { sha256: 'ABC' })],
    ['spec.platforms[0].uri', (whole) => first(whole, { uri: 'https://example.com/program' })],
  ])('would object to %s', async (fault, broken) => {
    expect(krewFaults(PLUGIN, broken(await manifest()))).toContain(fault);
  });

  const first = (whole: KrewManifest, change: object): KrewManifest => {
    const [one, ...others] = whole.spec?.platforms ?? [];
    return { ...whole, spec: { ...whole.spec, platforms: [{ ...one, ...change }, ...others] } };
  };
});

test('the image is signed under its digest, which no tag can be moved away from', () => {
  expect(signatures('ghcr.io/a/b:1.0.0', 'sha256:ab', 'SHA256SUMS')).toEqual({
    image: ['sign', '--yes', 'ghcr.io/a/b@sha256:ab'],
    files: ['sign-blob', '--yes', '--bundle', 'SHA256SUMS.sigstore.json', 'SHA256SUMS'],
  });
});

describe('what is given out', () => {
  test('is no prerelease for who did not ask for one', () => {
    expect(npmCommand('1.0.0', 'x.tgz', '')?.slice(-2)).toEqual(['--tag', 'latest']);
    expect(npmCommand('1.0.0-rc.1', 'x.tgz', '')?.slice(-2)).toEqual(['--tag', 'next']);
    const fresh = { exists: false, notes: 'notes.md' };
    expect(releaseCommand('1.0.0', ['a'], fresh)).not.toContain('--prerelease');
    expect(releaseCommand('1.0.0-rc.1', ['a'], fresh)).toContain('--prerelease');
  });

  test('is finished by a second run, which leaves alone what is out', () => {
    expect(npmCommand('1.0.0', 'x.tgz', '1.0.0\n')).toBeUndefined();
    expect(releaseCommand('1.0.0', ['a', 'b'], { exists: true, notes: 'notes.md' })).toEqual(
      'gh release upload v1.0.0 --clobber a b'.split(' '),
    );
  });

  (noHelm ? test.skip : test)(
    `has the chart where Helm pulls it from${noHelm ? ' (skipped: no helm)' : ''}`,
    async () => {
      for (const [name, text] of Object.entries(helmChart('infra'))) write(`brupop/${name}`, text);
      const chart = join(folder, `brupop-${VERSION}.tgz`);
      execFileSync('tar', ['-czf', chart, 'brupop'], { cwd: folder });
      const { file, crane } = await findCrane(process.env);
      mkdirSync(join(folder, 'got'));
      await withRegistry(file, join(folder, 'registry'), async (host) => {
        await pushChart(crane, chart, `${host}/charts/brupop:${VERSION}`);
        const args = [
          'pull',
          `oci://${host}/charts/brupop`,
          '--version',
          VERSION,
          '--plain-http',
          '-d',
          join(folder, 'got'),
        ];
        await promisify(execFile)('helm', args, { env: { ...process.env, HOME: folder } });
      });
      expect(readFileSync(join(folder, 'got', `brupop-${VERSION}.tgz`))).toEqual(readFileSync(chart));
    },
  );
});
