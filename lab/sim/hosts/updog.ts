import { jitter } from '../../../runtime/lib/random.ts';
import type { Releases } from './releases.ts';
import type { HostRepository } from './repository.ts';
import type { HostParts } from './times.ts';
import type { ActionName } from './update-status.ts';

export interface UpdogParts extends HostParts {
  readonly releases: Releases;
  readonly repository: HostRepository;
  /** The host reboots by itself. */
  readonly crash: () => void;
}

/** What a program has written, and how it has ended; without an exit status it was killed. */
export interface ToolEnd {
  readonly exit: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export const said = (stdout: string, stderr = ''): ToolEnd => ({ exit: 0, stdout, stderr });
export const failed = (stderr: string, exit = 1): ToolEnd => ({ exit, stdout: '', stderr: `${stderr}\n` });
export const KILLED: ToolEnd = { exit: undefined, stdout: '', stderr: '' };

export interface UpdogRun {
  /** Aborts when the process is killed, or the host goes down. */
  readonly signal: AbortSignal;
  /** The version that it is told to write. @default what it chooses itself */
  readonly image?: string | undefined;
  /** Called half-way. */
  readonly midway?: () => void;
}

/**
 * The tool that finds, writes and activates images, one process for each action. It reads the repository before it does anything, so that
 * each action fails and lasts as a look for updates does. It knows no lock and keeps no status: what it has done is on the disk.
 */
export class Updog {
  readonly #parts: UpdogParts;
  constructor(parts: UpdogParts) {
    this.#parts = parts;
  }

  /** Resolves when it has ended. Rejects when it was killed by its signal, in the middle of what it did. */
  async run(action: ActionName, run: UpdogRun): Promise<ToolEnd> {
    const { clock, intervals } = this.#parts;
    const startMs = clock.now();
    try {
      return await this.#run(action, run);
    } finally {
      intervals.push({ action, startMs, endMs: clock.now() });
    }
  }

  async #run(action: ActionName, { signal, image, midway }: UpdogRun): Promise<ToolEnd> {
    const { clock, random, faults, sets, times, repository } = this.#parts;
    const { trouble } = repository;
    if (trouble) {
      await clock.sleep(trouble.ms, signal);
      return failed(`Metadata error: ${trouble.words}`);
    }
    const taken = action === 'prepare' ? this.#taken(image) : undefined;
    const half = jitter(taken === undefined ? times.refreshMs : times.prepareMs, times.spread, random) / 2;
    await clock.sleep(half, signal);
    const begun = this.#begun(action, taken);
    const wayless = taken === undefined ? undefined : this.#wayless(taken);
    if (wayless !== undefined) return failed(`${begun}${wayless}`);
    // By now a download has metadata and migrations, and clears the partition set for the images.
    if (taken !== undefined) sets.wipe();
    midway?.();
    if (await this.#isKilled(signal)) return KILLED;
    await clock.sleep(half, signal);
    if (faults.strikes(action)) return failed(`${begun}Failed to ${action}: simulated fault`);
    return this.#finish(action, taken, begun);
  }

  /**
   * What a download takes: chosen by the settings and the repository of its own moment, whatever was chosen before. Undefined where there is
   * nothing to do.
   */
  #taken(image: string | undefined): string | undefined {
    const { faults, releases, repository } = this.#parts;
    if (faults.strikes('released')) releases.publishNewer();
    if (faults.strikes('offer-gone')) return undefined;
    if (image !== undefined) return repository.available.includes(image) ? image : undefined;
    return faults.strikes('torn-settings') ? repository.oldest : repository.choice;
  }

  /** Why the settings of the running version cannot be those of the other one. */
  #wayless(taken: string): string | undefined {
    const { faults, sets } = this.#parts;
    if (faults.strikes('migration')) return 'Failed to retrieve migrations';
    if (!faults.strikes('no-migrations')) return undefined;
    return `Reached end of migration chain at ${sets.running} but target is ${taken}`;
  }

  /** What goes wrong half-way. */
  async #isKilled(signal: AbortSignal): Promise<boolean> {
    const { clock, faults, crash } = this.#parts;
    if (faults.strikes('unplanned-reboot')) crash();
    if (faults.strikes('hang')) await clock.sleep(Infinity, signal);
    return faults.strikes('updog-killed');
  }

  #begun(action: ActionName, taken: string | undefined): string {
    if (action !== 'prepare') return '';
    if (this.#parts.faults.leftMs('reworded') > 0) return `The image is ${taken ?? 'the one that runs'}\n`;
    return taken === undefined ? 'No update required\n' : `Starting update to ${taken}\n`;
  }

  #finish(action: ActionName, taken: string | undefined, begun: string): ToolEnd {
    const { sets } = this.#parts;
    if (action === 'prepare') return this.#written(taken, begun);
    if (action === 'deactivate') sets.deactivate();
    const refusal = action === 'activate' ? sets.activate() : undefined;
    return refusal === undefined ? said('') : failed(`Failed to activate: ${refusal}`);
  }

  #written(taken: string | undefined, begun: string): ToolEnd {
    const { faults, sets, variant } = this.#parts;
    if (taken === undefined) return said('', begun);
    sets.write(taken);
    return said(faults.leftMs('reworded') > 0 ? 'Done\n' : `Update applied: ${variant} ${taken}\n`, begun);
  }
}
