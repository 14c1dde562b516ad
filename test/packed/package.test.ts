import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { bundledPackages } from '../../tools/image/bundled.ts';
import { ROOT } from '../documents.ts';
import { differences, objectsIn } from '../differences.ts';
import { installPacked, type PackageJson, type Packed } from './installed.ts';
import { shared } from '../folder.ts';

/** The package as npm would publish it, in the hands of apps outside of this repository. */

const EXAMPLES = readdirSync(join(ROOT, 'examples'));

let installed = '';
let packed: Packed;

beforeAll(() => {
  installed = join(shared, 'node_modules', 'cdk8s-brupop');
  packed = installPacked(shared);
});

describe('the package', () => {
  test('holds the constructs, the programs, the manifests and what people read, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !path.endsWith('.d.ts')).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'build/THIRD-PARTY-NOTICES.txt',
      'build/agent.mjs',
      'build/apiserver.mjs',
      'build/client-node.mjs',
      'build/controller.mjs',
      'build/kubectl-brupop.mjs',
      'build/kubectl_complete-brupop.mjs',
      'build/lib/index.js',
      'build/lib/package.json',
      'build/repository.mjs',
      'dist/brupop.k8s.yaml',
      'dist/optional/alerts.k8s.yaml',
      'dist/optional/alerts.rules.yaml',
      'dist/optional/grafana-dashboard.json',
      'dist/optional/grafana-dashboard.k8s.yaml',
      'dist/optional/monitors.k8s.yaml',
      'dist/optional/people-roles.k8s.yaml',
      'dist/props.md',
      'package.json',
    ]);
  });

  test.each(['agent', 'apiserver', 'controller'])('%s: its one file runs where Node is and nothing else', (process) => {
    const alone = mkdtempSync(join(shared, 'alone-'));
    cpSync(join(installed, 'build', `${process}.mjs`), join(alone, 'program.mjs'));
    const { status, stderr, stdout } = spawnSync('node', ['program.mjs'], {
      cwd: alone,
      env: { PATH: globalThis.process.env['PATH'], LOGGING_FORMATTER: 'no such' },
      encoding: 'utf8',
    });
    expect(stdout + stderr).toContain('LOGGING_FORMATTER: expected');
    expect(status).not.toBe(0);
  });

  test('brings the licence of each package of which something is in its programs', async () => {
    const notices = readFileSync(join(installed, 'build/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundled = await bundledPackages(ROOT);
    expect(bundled.length).toBeGreaterThan(20);
    for (const { name, version, license } of bundled) expect(notices).toContain(`\n${name} ${version} (${license})\n`);
  });

  test('brings `kubectl brupop`, which is small and needs nothing beside it', () => {
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as PackageJson;
    const program = join(installed, bin['kubectl-brupop'] ?? '');
    expect(execFileSync('node', [program, '--version'], { encoding: 'utf8' })).toMatch(/^kubectl-brupop \d/);
    expect(statSync(program).size).toBeLessThan(2_000_000);
    const alone = mkdtempSync(join(shared, 'alone-'));
    cpSync(program, join(alone, 'program.mjs'));
    const { stderr } = spawnSync('node', ['program.mjs', 'status', '--kubeconfig', 'none'], {
      cwd: alone,
      encoding: 'utf8',
    });
    expect(stderr).toContain('none is not a readable kubeconfig');
  });

  test('has one class of each name for both kinds of modules', () => {
    const program = `import { createRequire } from 'node:module';
      import { Brupop } from 'cdk8s-brupop';
      console.log(createRequire(import.meta.url)('cdk8s-brupop').Brupop === Brupop)`;
    const args = ['--input-type=module', '--eval', program];
    expect(execFileSync('node', args, { cwd: shared, encoding: 'utf8' }).trim()).toBe('true');
  });
});

test('loads only what it needs, and no class of cdk8s-plus', () => {
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as PackageJson;
  expect(Object.keys(dependencies)).toEqual(['croner', 'zod']);
  const code = readFileSync(join(installed, 'build/lib/index.js'), 'utf8');
  const loaded = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = '']) => name);
  expect(new Set(loaded.filter((name) => !name.startsWith('node:')))).toEqual(
    new Set(['cdk8s', 'constructs', 'croner', 'zod']),
  );
});

describe('what the package declares', () => {
  const declared = () =>
    packed.files
      .filter(({ path }) => path.endsWith('.d.ts'))
      .map(({ path }) => readFileSync(join(installed, path), 'utf8'))
      .join('\n');

  test('is told in types of its own, of cdk8s and of constructs: an app need not have, or bear, those of others', () => {
    const imported = [...declared().matchAll(/(?:from|import\() ?["']([^."'][^"']*)/g)];
    expect(new Set(imported.map(([, name]) => name))).toEqual(new Set(['cdk8s', 'constructs']));
    // Older compilers take a file that ends in .ts for one of anything.
    expect(declared()).not.toMatch(/["']\.[^"']+\.ts["']/);
  });

  test('can all be named by an app; what is not for apps is marked @internal', () => {
    const index = readFileSync(join(installed, 'build/lib/infra/index.d.ts'), 'utf8');
    const lists = [...index.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','));
    const exported = lists.map((name) => name.trim().replace(/^type /, '')).filter(Boolean);
    const pattern = /^(?:export )?(?:declare )?(?:class|interface|type|const|function|enum) (\w+)/gm;
    const declarations = [...declared().matchAll(pattern)].map(([, name = '']) => name);
    expect(declarations.toSorted()).toEqual(exported.toSorted());
  });
});

describe('an app that has installed it', () => {
  test.each(EXAMPLES)(
    'examples/%s compiles, and its manifests differ from those in dist/ by what its props say',
    async (example) => {
      const app = join(shared, example);
      cpSync(join(ROOT, 'examples', example), app, { recursive: true });
      await promisify(execFile)('npm', ['run', '--silent', 'synth'], { cwd: app, env: appEnvironment() });
      const objects = readdirSync(join(app, 'dist')).flatMap((file) => objectsIn(join(app, 'dist', file)));
      const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as PackageJson;
      const plain = objectsIn(join(installed, 'dist', 'brupop.k8s.yaml'));
      expect(differences(plain, objects).join('\n').replaceAll(version, 'VERSION')).toMatchSnapshot();
    },
  );

  test.each(EXAMPLES)('examples/%s: its own test finds the manifests that its snapshot has', async (example) => {
    const app = join(shared, `tested-${example}`);
    const snapshots = join(ROOT, 'examples', example, '__snapshots__');
    cpSync(join(ROOT, 'examples', example), app, { recursive: true });
    const how = isUpdate() ? '-u' : '--ci';
    const { stderr } = await promisify(execFile)('npm', ['test', '--silent', '--', how], {
      cwd: app,
      env: appEnvironment(),
    });
    if (isUpdate()) cpSync(join(app, '__snapshots__'), snapshots, { recursive: true });
    expect(stderr).toMatch(/^Snapshots: .*\b1 total$/m);
  });

  test('finds the manifests by their name in the package', () => {
    const program = "console.log(require.resolve('cdk8s-brupop/dist/brupop.k8s.yaml'))";
    const found = execFileSync('node', ['--eval', program], { cwd: shared, encoding: 'utf8' });
    expect(found.trim()).toBe(join(installed, 'dist/brupop.k8s.yaml'));
  });
});

/** The compiler and cdk8s's command line are found on the path, the app's packages only beside it. */
function appEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH: `${join(ROOT, 'node_modules', '.bin')}:${PATH}`, HOME };
}

/** Whether jest was called with `-u`, which is then meant for the apps too. */
function isUpdate(): boolean {
  const { snapshotState } = expect.getState() as unknown as { readonly snapshotState: { _updateSnapshot: string } };
  return snapshotState._updateSnapshot === 'all';
}
