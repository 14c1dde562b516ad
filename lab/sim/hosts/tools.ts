import type { Machine } from './machine.ts';
import type { HostRepository } from './repository.ts';
import type { HostParts } from './times.ts';
import type { ActionName } from './update-status.ts';
import { failed, KILLED, said, type ToolEnd, type Updog, type UpdogRun } from './updog.ts';

export interface ToolParts extends HostParts {
  readonly machine: Machine;
  readonly repository: HostRepository;
  readonly updog: Updog;
}

/** A run of a program. It aborts when the process is killed, or the host goes down. */
interface Run {
  readonly args: readonly string[];
  readonly killed: AbortSignal;
}

/** How long a program takes that only looks at the disk, milliseconds. */
const LOOK_MS = 20;

/**
 * The host's own programs, in its root: updog, signpost and shutdown. They know no lock and keep no status: what one of them has done is on the
 * disk, and what it was killed in is half done.
 */
export class HostTools {
  readonly #parts: ToolParts;
  readonly #programs: Readonly<Record<string, (run: Run) => Promise<ToolEnd>>> = {
    'updog check-update': (run) => this.#check(run),
    'updog update-image': (run) => this.#writeImage(run),
    'updog update-apply': (run) => this.#apply(run),
    'signpost status': async (run) => this.#look(run, () => said(this.#parts.sets.table)),
    'signpost clear-inactive': (run) => this.#look(run, () => this.#clear()),
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
    const isAway = faults.leftMs('dispatcher-missing') > 0 || faults.leftMs('updog-missing') > 0;
    const isMissing = name.startsWith('updog') && isAway;
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

  async #updog(action: ActionName, { killed, ...run }: Run & Pick<UpdogRun, 'image'>): Promise<ToolEnd> {
    const { clock, faults, updog } = this.#parts;
    if (faults.strikes('dispatcher-failed')) return failed('chroot: failed to run command: Input/output error', 126);
    const end = await updog.run(action, { signal: killed, image: run.image });
    if (faults.strikes('half-open')) await clock.sleep(Infinity, killed);
    return end;
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

  async #check(run: Run): Promise<ToolEnd> {
    const { repository, variant, arch } = this.#parts;
    const end = await this.#updog('refresh', run);
    if (end.exit !== 0) return end;
    const version = repository.choice;
    if (version === undefined) return failed('No update available');
    this.#meddle(version);
    return said(`${JSON.stringify({ variant, arch, version, max_version: version, waves: {} }, null, 2)}\n`);
  }

  #writeImage(run: Run): Promise<ToolEnd> {
    const at = run.args.indexOf('--image');
    return this.#updog('prepare', { ...run, image: at < 0 ? undefined : run.args[at + 1] });
  }

  #apply(run: Run): Promise<ToolEnd> {
    const { faults, repository, sets } = this.#parts;
    if (faults.strikes('restaged-by-hand')) sets.write(repository.oldest);
    return this.#updog('activate', run);
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

  /** What somebody on the host does as soon as an update is there. */
  #meddle(version: string): void {
    const { faults, sets } = this.#parts;
    const activated = faults.strikes('activated-by-hand');
    if (activated || faults.strikes('staged-by-hand')) sets.write(version);
    if (activated) sets.activate();
  }
}
