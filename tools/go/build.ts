import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder, removeUnused } from './cache.ts';

const MODULES = fileURLToPath(new URL('modules', import.meta.url));
const run = promisify(execFile);

/** A program of somebody else's that is written in Go, and where its source is. */
export interface GoProgram {
  readonly name: string;
  /** Folder below `modules/` whose go.mod pins it. */
  readonly module: string;
  /** Import path, or `.` for the module's own. */
  readonly package: string;
  /** Build tags, by which a program leaves out what needs C libraries. */
  readonly tags?: readonly string[];
  /** What the linker writes into variables of the program. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface BuildOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Hears a line before and after each program that has to be built. */
  readonly progress: (line: string) => void;
}

/** Where each program is on this machine, by its name. */
export type Binaries = Readonly<Record<string, string>>;

/**
 * Finds every program, and builds what is missing. Programs in `KUBEBUILDER_ASSETS` are used as they are; the rest is built from its
 * Go module into the user's cache, once for each state of the module's files and of what is built from it, and how.
 * @throws Error with the compiler's words when a program cannot be built
 */
export async function binaries({ env, progress }: BuildOptions, programs: readonly GoProgram[]): Promise<Binaries> {
  const found: Record<string, string> = {};
  for (const program of programs)
    found[program.name] = asset(program, env) ?? (await built(program, programs, { env, progress }));
  return found;
}

function asset({ name }: GoProgram, env: BuildOptions['env']): string | undefined {
  const folder = env['KUBEBUILDER_ASSETS'];
  const file = folder && join(folder, name);
  return file && existsSync(file) ? file : undefined;
}

async function built(
  program: GoProgram,
  programs: readonly GoProgram[],
  { env, progress }: BuildOptions,
): Promise<string> {
  const { name, module } = program;
  const file = join(await outputFolder(module, programs, env), name);
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

function whatToBuild({ tags = [], variables = {}, package: source }: GoProgram): readonly string[] {
  const flags = ['-s', '-w', ...Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`)];
  const tagged = tags.length > 0 ? ['-tags', tags.join(',')] : [];
  return ['-trimpath', ...tagged, '-ldflags', flags.join(' '), source];
}

/** Where what comes out of a module is kept. @param programs all that are built of it */
export async function outputFolder(
  module: string,
  programs: readonly GoProgram[],
  env: BuildOptions['env'],
): Promise<string> {
  const folder = join(MODULES, module);
  const names = (await readdir(folder)).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const commands = programs.filter((program) => program.module === module).flatMap(whatToBuild);
  return cacheFolder({ module, state: [...texts, ...commands] }, env);
}

/** Version of a Go module that a module of ours requires, e.g. `v1.11.5`. @throws Error where it requires none */
export async function requiredVersion(module: string, required: string): Promise<string> {
  const text = await readFile(join(MODULES, module, 'go.mod'), 'utf8');
  const version = text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^require /, '')
        .split(' '),
    )
    .find(([path, found]) => path === required && found?.startsWith('v'))?.[1];
  if (version === undefined) throw new Error(`${module}/go.mod: expected a version of ${required}, got none`);
  return version;
}

/** Folder of this machine with the source of a Go module that a module of ours requires. It is fetched where only what was built of it is kept. */
export async function sourceFolder(module: string, required: string, env: BuildOptions['env']): Promise<string> {
  const folder = async (): Promise<string> => {
    const { stdout } = await go(['list', '-m', '-f', '{{.Dir}}', required], join(MODULES, module), env);
    return stdout.trim();
  };
  const found = await folder();
  if (found !== '') return found;
  await go(['mod', 'download', required], join(MODULES, module), env);
  return folder();
}

async function go(args: readonly string[], cwd: string, env: BuildOptions['env']): Promise<{ stdout: string }> {
  const path = [env['PATH'], '/usr/local/go/bin'].join(delimiter);
  return run('go', args, { cwd, env: { ...env, PATH: path, CGO_ENABLED: '0' }, maxBuffer: 16 * 1024 * 1024 });
}
