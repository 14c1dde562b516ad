import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DebianPin } from './lock.ts';
import type { Arch } from './platforms.ts';
import { run } from './run.ts';

/** This machine's package sources do not have what is asked for. */
export class NoSuchPackageError extends Error {
  override readonly name = 'NoSuchPackageError';
}

export interface DebianArchiveOptions {
  readonly arch: Arch;
  /** Code name of the release. */
  readonly suite: string;
  /** An empty folder. */
  readonly dir: string;
}

/**
 * Debian's packages of one architecture, by this machine's apt and the sources that it is set up with; what is installed here does not
 * matter, and nothing of it is changed.
 */
export class DebianArchive {
  readonly #options: DebianArchiveOptions;
  #ready: Promise<void> | undefined;

  constructor(options: DebianArchiveOptions) {
    this.#options = options;
  }

  /** What apt would install. @throws NoSuchPackageError */
  async newest(name: string): Promise<DebianPin> {
    const record = await this.#show(['--no-all-versions', name]);
    const field = (key: string): string => new RegExp(`^${key}: (.*)$`, 'm').exec(record)?.[1] ?? '';
    const pin = { version: field('Version'), sha256: field('SHA256') };
    if (!pin.version || !pin.sha256) throw this.#missing(name);
    return pin;
  }

  async has(name: string, version: string): Promise<boolean> {
    return (await this.#show([`${name}=${version}`])) !== '';
  }

  /** Downloads a package into an empty folder. */
  async download(name: string, version: string, into: string): Promise<void> {
    await this.#update();
    await run('apt-get', [...this.#settings(), 'download', `${name}=${version}`], { cwd: into });
  }

  /** Empty where there is no such package. */
  async #show(what: readonly string[]): Promise<string> {
    await this.#update();
    return run('apt-cache', [...this.#settings(), 'show', ...what]).catch(() => '');
  }

  /** Once, and only when something is asked for. */
  #update(): Promise<void> {
    return (this.#ready ??= this.#prepare());
  }

  async #prepare(): Promise<void> {
    const { dir } = this.#options;
    for (const name of ['lists', 'cache']) await mkdir(join(dir, name));
    await writeFile(join(dir, 'status'), '');
    await writeFile(join(dir, 'preferences'), preferences(this.#options.suite));
    await run('apt-get', [...this.#settings(), '--quiet', 'update']);
  }

  #settings(): readonly string[] {
    const { arch, dir } = this.#options;
    const settings = {
      'APT::Architecture': arch,
      'APT::Architectures::': arch,
      'APT::Sandbox::User': 'root',
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
      'Dir::State': dir,
      'Dir::State::status': join(dir, 'status'),
      'Dir::State::lists': join(dir, 'lists'),
      'Dir::Cache': join(dir, 'cache'),
      'Dir::Etc::preferences': join(dir, 'preferences'),
      'Dir::Etc::preferencesparts': '/dev/null',
    };
    return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }

  #missing(name: string): NoSuchPackageError {
    const { suite, arch } = this.#options;
    return new NoSuchPackageError(
      `${name}: expected a machine whose apt has Debian ${suite} among its sources (${arch}), got no such package`,
    );
  }
}

/** Nothing but this release of Debian, with its updates. */
function preferences(suite: string): string {
  return [
    `Package: *\nPin: release o=Debian, n=${suite}*\nPin-Priority: 500\n`,
    'Package: *\nPin: release o=*\nPin-Priority: -1\n',
  ].join('\n');
}
