import type { Clock } from '../../runtime/lib/clock.ts';
import { jitter, type Random } from '../../runtime/lib/random.ts';
import type { Faults } from './faults.ts';
import type { Machine } from './machine.ts';
import type { Releases } from './releases.ts';
import type { HostSettings } from './settings.ts';
import type { PartitionSets } from './partition-sets.ts';
import type { HostInterval, HostTimes } from './times.ts';
import type { ActionName } from './update-status.ts';

export interface ToolParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly machine: Machine;
  readonly sets: PartitionSets;
  readonly times: HostTimes;
  readonly intervals: HostInterval[];
  readonly releases: Releases;
  readonly settings: HostSettings;
  readonly variant: string;
  readonly arch: string;
}

/** What a program has written, and how it has ended; without an exit status it was killed. */
export interface ToolEnd {
  readonly exit: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run of a program. It aborts when the process is killed, or the host goes down. */
interface Run {
  readonly args: readonly string[];
  readonly killed: AbortSignal;
}

const said = (stdout: string, stderr = ''): ToolEnd => ({ exit: 0, stdout, stderr });
const failed = (stderr: string, exit = 1): ToolEnd => ({ exit, stdout: '', stderr: `${stderr}\n` });
const KILLED: ToolEnd = { exit: undefined, stdout: '', stderr: '' };

/** How long a program takes that only looks at the disk, milliseconds. */
const LOOK_MS = 20;

/**
 * The host's own programs, in its root: updog, signpost and shutdown. They know no lock and keep no status: what one of them has done is on the
 * disk, and what it was killed in is half done.
 */
export class HostTools {
  readonly #parts: ToolParts;
  readonly #programs: Readonly<Record<string, (run: Run) => Promise<ToolEnd>>> = {
    'updog check-update': (run) => this.#action('refresh', run, async () => this.#check()),
    'updog update-image': (run) => this.#action('prepare', run, () => this.#writeImage(run)),
    'updog update-apply': (run) => this.#action('activate', run, async () => this.#apply()),
    'signpost status': async (run) => this.#look(run, () => said(this.#parts.sets.table)),
    'signpost clear-inactive': (run) => this.#action('deactivate', run, async () => this.#clear()),
    'shutdown -r': async (run) => this.#look(run, () => this.#shutDown()),
  };

  constructor(parts: ToolParts) {
    this.#parts = parts;
  }

  /** By its path and arguments. Resolves when it has ended or was killed. */
  async run([path = '', ...args]: readonly string[], killed: AbortSignal): Promise<ToolEnd> {
    const { clock, faults } = this.#parts;
    const name = `${path.slice(path.lastIndexOf('/') + 1)} ${args[0]}`;
    const program = this.#programs[name];
    if (faults.leftMs('denied') > 0) return failed('chroot: cannot change root directory: Permission denied', 125);
    const isMissing = name.startsWith('updog') && faults.leftMs('dispatcher-missing') > 0;
    if (!program || isMissing) return failed(`chroot: failed to run command '${path}': No such file or directory`, 127);
    try {
      await clock.sleep(faults.leftMs('silent'), killed);
      if (faults.leftMs('slow') > 0) await clock.sleep(2000, killed);
      return this.#disturbed(await program({ args, killed }));
    } catch (error) {
      if (!killed.aborted) throw error;
      return KILLED;
    }
  }

  /** A piece of work, half of whose time is over before it takes hold: what befalls it there leaves it half done. */
  async #action(action: ActionName, { killed }: Run, work: () => Promise<ToolEnd>): Promise<ToolEnd> {
    const { clock, random, faults, machine, times, intervals } = this.#parts;
    if (faults.strikes('dispatcher-failed')) return failed('chroot: failed to run command: Input/output error', 126);
    const startMs = clock.now();
    const half = jitter(times[`${action}Ms`], times.spread, random) / 2;
    try {
      await clock.sleep(half, killed);
      if (faults.strikes('unplanned-reboot')) machine.crash();
      const end = await work();
      await clock.sleep(half, killed);
      if (faults.strikes('half-open')) await clock.sleep(Infinity, killed);
      return end;
    } finally {
      intervals.push({ action, startMs, endMs: clock.now() });
    }
  }

  async #look({ killed }: Run, program: () => ToolEnd): Promise<ToolEnd> {
    await this.#parts.clock.sleep(LOOK_MS, killed);
    return program();
  }

  #disturbed(end: ToolEnd): ToolEnd {
    const { faults } = this.#parts;
    if (end.stdout === '') return end;
    if (faults.leftMs('garbage') > 0) return said('{"update_state":7,"version_id":null}');
    return faults.leftMs('truncated') > 0 ? { ...end, stdout: end.stdout.slice(0, end.stdout.length / 2) } : end;
  }

  #check(): ToolEnd {
    const { faults, variant, arch } = this.#parts;
    const failure = this.#failure('refresh');
    if (failure) return failure;
    const version = this.#choice();
    if (version === undefined) return failed('No update available');
    if (faults.leftMs('no-wave') > 0) return failed(`Update ${version} exists but wave in the future`);
    this.#meddle(version);
    return said(`${JSON.stringify({ variant, arch, version, max_version: version, waves: {} }, null, 2)}\n`);
  }

  async #writeImage(run: Run): Promise<ToolEnd> {
    const { faults, releases, sets, variant } = this.#parts;
    if (faults.leftMs('repository-gone') > 0) return failed('Failed to load the repository: simulated fault');
    if (faults.strikes('released')) releases.publishNewer();
    if (faults.leftMs('no-wave') > 0) return said('2026-01-01T00:00:00Z\n', 'Update available in later wave\n');
    const version = this.#taken(run.args);
    if (version === undefined) return said('', 'No update required\n');
    sets.wipe();
    const words = faults.leftMs('reworded') > 0 ? '' : `Starting update to ${version}\n`;
    const failure = (await this.#mishap(run)) ?? this.#failure('prepare');
    if (failure) return { ...failure, stderr: `${words}${failure.stderr}` };
    sets.write(version);
    return said(words === '' ? 'Done\n' : `Update applied: ${variant} ${version}\n`, words);
  }

  /** The version that it is told, or chooses; undefined where the repository does not have it. */
  #taken(args: readonly string[]): string | undefined {
    const { faults, releases } = this.#parts;
    const at = args.indexOf('--image');
    const version = at < 0 ? this.#choice() : args[at + 1];
    const isThere = version !== undefined && releases.has(version) && !faults.strikes('offer-gone');
    return isThere ? version : undefined;
  }

  /** What goes wrong while the images are written. */
  async #mishap({ killed }: Run): Promise<ToolEnd | undefined> {
    const { clock, faults } = this.#parts;
    if (faults.strikes('dispatcher-killed')) return KILLED;
    if (faults.strikes('hang')) await clock.sleep(Infinity, killed);
    return undefined;
  }

  #apply(): ToolEnd {
    const { faults, releases, sets } = this.#parts;
    if (faults.strikes('restaged-by-hand')) sets.write(releases.versions.at(-1) ?? sets.running);
    const failure = this.#failure('activate');
    if (failure) return failure;
    if (sets.other !== 'written') return failed('Inactive partition is not valid or has been marked');
    sets.activate();
    return said('');
  }

  #clear(): ToolEnd {
    const { faults, sets } = this.#parts;
    if (faults.strikes('deactivate')) return failed('Failed to deactivate: simulated fault');
    sets.wipe();
    return said('');
  }

  #shutDown(): ToolEnd {
    const { faults, machine } = this.#parts;
    if (faults.strikes('reboot-500')) return failed('Call to Reboot failed: Access denied');
    if (faults.strikes('reboot-ignored')) return said('');
    machine.reboot();
    return faults.strikes('reboot-dropped') ? KILLED : said('');
  }

  /** Each subcommand of updog asks the repository first. */
  #failure(action: ActionName): ToolEnd | undefined {
    const { faults } = this.#parts;
    if (faults.leftMs('repository-gone') > 0) return failed('Failed to load the repository: simulated fault');
    return faults.strikes(action) ? failed(`Failed to ${action}: simulated fault`) : undefined;
  }

  #choice(): string | undefined {
    const { clock, faults, releases, settings, sets } = this.#parts;
    const { seed, 'ignore-waves': ignoreWaves, 'version-lock': lock } = settings.updates;
    const versionLock = faults.leftMs('downgrade') > 0 ? (releases.versions.at(-1) ?? lock) : lock;
    return releases.choose({ running: sets.running, seed, ignoreWaves, versionLock, now: clock.now() });
  }

  /** What somebody on the host does as soon as an update is there. */
  #meddle(version: string): void {
    const { faults, sets } = this.#parts;
    const activated = faults.strikes('activated-by-hand');
    if (activated || faults.strikes('staged-by-hand')) sets.write(version);
    if (activated) sets.activate();
  }
}
