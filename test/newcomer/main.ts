import { mkdtemp, mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../runtime/lib/clock.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { ROOT } from '../documents.ts';
import { addOperator, buildApp, compileWithOldest, createApp, type Environments, testInJavaScript } from './app.ts';
import { tryOnCluster } from './cluster.ts';
import { noHelm } from '../shell.ts';
import { run, runQuietly } from './command.ts';

/**
 * `npm run lab -- test:newcomer`: in an empty folder, what somebody does who has never seen this repository. It asks npm's registry, so it is no
 * part of `npm test`.
 */
async function main(): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'brupop-newcomer-')));
  try {
    const app = join(folder, 'newcomer');
    const environments = await environmentsIn(folder);
    const pack = ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
    const tarball = join(folder, (await run(pack, { cwd: ROOT, env: environments.registry })).stdout.trim());
    await step('cdk8s init typescript-app, npm install', () => createApp(app, tarball, environments));
    await addOperator(app);
    const manifests = await step('compile, test, synth', () => buildApp(app, environments));
    if (manifests !== (await readFile(join(ROOT, 'dist', 'brupop.k8s.yaml'), 'utf8')))
      throw new Error('the manifests are others than those in dist/');
    await step('kubectl apply --dry-run=server', () =>
      tryOnCluster(manifests, join(folder, 'cluster'), environments.fresh),
    );
    await step('helm template, kubectl apply --dry-run=server', () => tryChart(manifests, folder, environments));
    await step('TypeScript 5.0', () => compileWithOldest(app, environments));
    await step('JavaScript, with vitest', () => testInJavaScript(join(folder, 'javascript'), tarball, environments));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The chart, in the namespace of the manifests. Whoever has no Helm is told so. */
async function tryChart(manifests: string, folder: string, { registry, fresh }: Environments): Promise<void> {
  if (noHelm) return void process.stdout.write('no helm on the PATH: not tried\n');
  const chart = join(folder, 'chart');
  await run([process.execPath, 'build/helm.mjs', chart], { cwd: ROOT, env: registry });
  await runQuietly(['helm', 'lint', '--strict', '--namespace', NAMESPACE, chart], { cwd: folder, env: fresh });
  const template = ['helm', 'template', 'brupop', chart, '--namespace', NAMESPACE];
  const { stdout, stderr } = await run(template, { cwd: folder, env: fresh });
  if (stderr !== '') throw new Error(stderr);
  const [namespace = ''] = manifests.split('---\n');
  await tryOnCluster(`${namespace}${stdout}`, join(folder, 'release'), fresh);
}

async function environmentsIn(folder: string): Promise<Environments> {
  const registry = process.env;
  const { stdout } = await run(['npm', 'config', 'get', 'cache'], { cwd: folder, env: registry });
  const home = join(folder, 'home');
  await mkdir(home);
  return { registry, fresh: { PATH: process.env['PATH'], HOME: home, npm_config_cache: stdout.trim() } };
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const begun = systemClock.now();
  const result = await work();
  process.stdout.write(`${name}: ${Math.round((systemClock.now() - begun) / 1000)} s\n`);
  return result;
}

await main();
