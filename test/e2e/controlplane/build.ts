import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder, removeUnused } from './cache.ts';
import { type Program, PROGRAMS } from './programs.ts';

const MODULES = fileURLToPath(new URL('modules', import.meta.url));
const run = promisify(execFile);

export interface BuildOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears a line before and after each program that has to be built. */
  readonly progress: (line: string) => void;
}

/** Where each program of the control plane is on this machine, by its name. */
export type Binaries = Readonly<Record<string, string>>;

/**
 * Finds every program, and builds what is missing. Programs in `KUBEBUILDER_ASSETS` are used as they are; the rest is built from its
 * Go module into the user's cache, once for each state of the module's go.mod and go.sum and of what is built from it, and how.
 * @throws Error with the compiler's words when a program cannot be built
 */
export async function binaries({ env, progress }: BuildOptions, programs = PROGRAMS): Promise<Binaries> {
  const found: Record<string, string> = {};
  for (const program of programs)
    found[program.name] = asset(program, env) ?? (await built(program, programs, { env, progress }));
  return found;
}

/** Everything that a control plane and its scenarios need; once they run, there is no network to fetch modules from. */
export async function prepared(options: BuildOptions): Promise<Binaries> {
  const found = await binaries(options);
  await certManagerCrds(options);
  return found;
}

/**
 * A file with cert-manager's own CRDs. They lie in its module as Helm templates, of which only labels are templated: those lines are
 * left out.
 */
export async function certManagerCrds({ env }: Pick<BuildOptions, 'env'>): Promise<string> {
  const file = join(await outputOf('cert-manager', PROGRAMS, env), 'crds.yaml');
  if (existsSync(file)) return file;
  const question = ['list', '-m', '-f', '{{.Dir}}', 'github.com/cert-manager/cert-manager'];
  const { stdout } = await go(question, join(MODULES, 'cert-manager'), env);
  const source = join(stdout.trim(), 'deploy', 'crds');
  const names = (await readdir(source)).filter((name) => name.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(source, name), 'utf8')));
  const plain = texts.map((text) => text.replaceAll(/^.*\{\{.*\n/gm, ''));
  await writeFile(`${file}.${process.pid}`, plain.join('---\n'));
  await rename(`${file}.${process.pid}`, file);
  return file;
}

function asset({ name }: Program, env: BuildOptions['env']): string | undefined {
  const folder = env['KUBEBUILDER_ASSETS'];
  const file = folder && join(folder, name);
  return file && existsSync(file) ? file : undefined;
}

async function built(program: Program, programs: readonly Program[], { env, progress }: BuildOptions): Promise<string> {
  const { name, module } = program;
  const file = join(await outputOf(module, programs, env), name);
  if (existsSync(file)) return file;
  progress(`building ${name} (once; minutes on two cores)`);
  const begun = performance.now();
  // Moved into place when whole: a build that was interrupted leaves nothing that looks like a program.
  const partial = `${file}.${process.pid}`;
  await go(['build', '-o', partial, ...whatToBuild(program)], join(MODULES, module), env);
  await rename(partial, file);
  progress(`built ${name} in ${Math.round((performance.now() - begun) / 1000)} s`);
  await removeUnused(module, env);
  return file;
}

function whatToBuild({ variables = {}, package: source }: Program): readonly string[] {
  const flags = ['-s', '-w', ...Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`)];
  return ['-trimpath', '-ldflags', flags.join(' '), source];
}

/** Where what comes out of a module is kept. */
async function outputOf(module: string, programs: readonly Program[], env: BuildOptions['env']): Promise<string> {
  const sums = ['go.mod', 'go.sum'].map((name) => readFile(join(MODULES, module, name), 'utf8'));
  const commands = programs.filter((program) => program.module === module).flatMap(whatToBuild);
  return cacheFolder({ module, state: [...(await Promise.all(sums)), ...commands] }, env);
}

async function go(args: readonly string[], cwd: string, env: BuildOptions['env']): Promise<{ stdout: string }> {
  const path = [env['PATH'], '/usr/local/go/bin'].join(delimiter);
  return run('go', args, { cwd, env: { ...env, PATH: path, CGO_ENABLED: '0' }, maxBuffer: 16 * 1024 * 1024 });
}
