import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { run, runQuietly } from './command.ts';

const require = createRequire(import.meta.url);
const CLI = dirname(require.resolve('cdk8s-cli/package.json'));

const versionOf = (name: string): string => (require(`${name}/package.json`) as { version: string }).version;

/** What `cdk8s init` puts into the files of its templates. */
const FILLED: Readonly<Record<string, string>> = {
  $base: 'newcomer',
  cdk8s_core_version: versionOf('cdk8s'),
  cdk8s_plus_version: versionOf('cdk8s-plus-33'),
  cdk8s_cli_spec: `^${versionOf('cdk8s-cli')}`,
  constructs_version: versionOf('constructs'),
};

const IMPORT = "import { App, Chart, ChartProps } from 'cdk8s';\n";
const PLACE = '    // define resources here\n';

export interface Environments {
  /** As this machine has it, to reach npm's registry. */
  readonly registry: NodeJS.ProcessEnv;
  /** As a machine has it that knows nothing of this repository. */
  readonly fresh: NodeJS.ProcessEnv;
}

/**
 * Does in `folder` what `cdk8s init typescript-app` does, but for the import of the Kubernetes API's types, which are downloaded from
 * elsewhere; then installs the package.
 */
export async function createApp(folder: string, tarball: string, { registry }: Environments): Promise<void> {
  await cp(join(CLI, 'templates', 'typescript-app'), folder, { recursive: true });
  await rename(join(folder, '{{}}.gitignore'), join(folder, '.gitignore'));
  for (const name of ['package.json', 'main.ts']) {
    const text = await readFile(join(folder, name), 'utf8');
    const filled = text.replaceAll(/\{\{ (\S+) \}\}/g, (place, word: string) => FILLED[word] ?? place);
    await writeFile(join(folder, name), filled);
  }
  await install(folder, [tarball], registry);
}

/** Adds the operator to the app's chart, in two lines. */
export async function addOperator(folder: string): Promise<void> {
  const file = join(folder, 'main.ts');
  const text = await readFile(file, 'utf8');
  if (!text.includes(IMPORT) || !text.includes(PLACE)) throw new Error(`${file} is not what it was:\n${text}`);
  await writeFile(
    file,
    text
      .replace(IMPORT, `${IMPORT}import { Brupop } from 'cdk8s-brupop';\n`)
      .replace(PLACE, `    new Brupop(this, 'Updates');\n`),
  );
}

/** The scripts of the template's package.json: compile, test, synth. @returns the manifests */
export async function buildApp(folder: string, { fresh }: Environments): Promise<string> {
  const options = { cwd: folder, env: fresh };
  await runQuietly(['npm', 'run', '--silent', 'compile'], options);
  // Jest reports where others complain. The template's snapshot is of an empty chart: its own first run renews it.
  await run(['npm', 'test', '--silent', '--', '-u'], options);
  // Whether there is a newer command line is asked of another address than npm's.
  await runQuietly(['npm', 'run', '--silent', 'synth', '--', '--no-check-upgrade'], options);
  return readFile(join(folder, 'dist', 'newcomer.k8s.yaml'), 'utf8');
}

const OLDEST = `import { App } from 'cdk8s';
import { BrupopChart } from 'cdk8s-brupop';
new BrupopChart(new App(), 'brupop', { agent: { httpPort: 9000 } });
// @ts-expect-error
new BrupopChart(new App(), 'brupop', { agent: { httpPort: 'none' } });
`;

/** With the oldest TypeScript that compiles what cdk8s and constructs declare: the package's types are there, and tell mistakes. */
export async function compileWithOldest(folder: string, { registry, fresh }: Environments): Promise<void> {
  await install(folder, ['typescript@5.0.4'], registry);
  await writeFile(join(folder, 'oldest.ts'), OLDEST);
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2019', '--module', 'commonjs'];
  await runQuietly(['npx', 'tsc', ...options, '--moduleResolution', 'node', 'oldest.ts'], { cwd: folder, env: fresh });
}

const SPEC = `import { App, Testing } from 'cdk8s';
import { BrupopChart, InvalidPropsError } from 'cdk8s-brupop';
import { expect, test } from 'vitest';

test('the operator, in plain JavaScript', () => {
  const chart = new BrupopChart(new App(), 'brupop', { namespace: 'updates' });
  expect(Testing.synth(chart).map(({ kind }) => kind)).toContain('DaemonSet');
  expect(() => new BrupopChart(new App(), 'brupop', { namespace: 1n })).toThrow(InvalidPropsError);
});
`;

/** The same for who writes ES modules in plain JavaScript, and tests them with vitest. */
export async function testInJavaScript(
  folder: string,
  tarball: string,
  { registry, fresh }: Environments,
): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await install(folder, [tarball, 'cdk8s', 'constructs', 'vitest'], registry);
  await writeFile(join(folder, 'operator.spec.js'), SPEC);
  await run(['npx', 'vitest', 'run'], { cwd: folder, env: fresh });
}

/** The newest that the ranges allow: that is what a newcomer gets. */
async function install(folder: string, packages: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const command = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...packages];
  const { stderr } = await run(command, { cwd: folder, env });
  if (/ERESOLVE|cdk8s-brupop/.test(stderr)) throw new Error(`npm install has something to say\n${stderr}`);
}
