import { type Clock, rfc3339 } from '../../runtime/lib/clock.ts';
import { jitter, type Random } from '../../runtime/lib/random.ts';
import { DONE, type HostAnswer, json, text } from './answer.ts';
import { background } from './background.ts';
import type { Faults } from './faults.ts';
import { UpdateLock } from './lock.ts';
import type { Releases } from './releases.ts';
import type { HostSettings } from './settings.ts';
import type { PartitionSets } from './partition-sets.ts';
import type { HostInterval, HostTimes } from './times.ts';
import { type ActionName, freshStatus, type WireImage, type WireStatus } from './update-status.ts';

export interface UpdaterParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly sets: PartitionSets;
  readonly times: HostTimes;
  readonly intervals: HostInterval[];
  readonly releases: Releases;
  readonly settings: HostSettings;
  readonly variant: string;
  readonly arch: string;
  /** The boot that the updater lives in. */
  readonly signal: AbortSignal;
  /** The host reboots by itself. */
  readonly crash: () => void;
  /** The host's API server goes away for `awayMs`. */
  readonly restartApi: (awayMs: number) => void;
}

const ALLOWED: Readonly<Record<ActionName, readonly WireStatus['update_state'][]>> = {
  refresh: ['Idle', 'Available', 'Staged', 'Ready'],
  prepare: ['Available', 'Staged'],
  activate: ['Staged'],
  deactivate: ['Ready'],
};

/**
 * The host's tool for updates, from one boot to the next: its status lives in memory only. An action is answered when it has begun;
 * its own process holds the lock until the result is written.
 */
export class Updater {
  readonly #parts: UpdaterParts;
  readonly #lock = new UpdateLock();
  #status: WireStatus | undefined;
  #commands = 0;

  constructor(parts: UpdaterParts) {
    this.#parts = parts;
  }

  status(): HostAnswer {
    const free = this.#held('busy') ? undefined : this.#lock.tryShared();
    if (!free) {
      const why = 'Resource temporarily unavailable (os error 11)';
      return text(423, `Unable to obtain shared lock for reading update status: ${why}`);
    }
    free();
    if (this.#status) return json(this.#status);
    return text(404, 'Update status is uninitialized, refresh-updates to initialize it');
  }

  start(action: ActionName): HostAnswer {
    const { faults } = this.#parts;
    if (this.#held('dispatcher-missing')) {
      return text(500, 'Unable to start the update dispatcher: No such file or directory (os error 2) ');
    }
    if (faults.strikes('dispatcher-failed')) return text(500, 'Update dispatcher failed');
    const free = this.#held('busy') || this.#held('reader') ? undefined : this.#lock.tryExclusive();
    if (!free) return text(423, 'Update lock held');
    this.#status ??= freshStatus();
    this.#forestall(action, this.#status);
    const refusal = this.#refusal(action, this.#status);
    if (refusal) {
      free();
      return refusal;
    }
    background(this.#run(action, { status: this.#status, free }), this.#parts.signal);
    return DONE;
  }

  #refusal(action: ActionName, status: WireStatus): HostAnswer | undefined {
    if (!ALLOWED[action].includes(status.update_state)) {
      return text(409, 'Update action not allowed according to update state');
    }
    if (action === 'prepare' && this.#isGone(status.chosen_update?.version)) {
      return text(404, 'Previously chosen Update no longer exists');
    }
    if (action !== 'refresh' && action !== 'prepare' && !status.staging_partition) {
      return text(404, 'No update image applied to staging partition');
    }
    return undefined;
  }

  #isGone(chosen: string | undefined): boolean {
    const { releases, faults } = this.#parts;
    if (chosen === undefined || !releases.has(chosen)) return true;
    return faults.leftMs('no-wave') > 0 || faults.strikes('offer-gone');
  }

  async #run(action: ActionName, { status, free }: { status: WireStatus; free: () => void }): Promise<void> {
    const { clock, random, times, intervals, signal } = this.#parts;
    const startMs = clock.now();
    const half = jitter(times[`${action}Ms`], times.spread, random) / 2;
    const taken = action === 'prepare' ? this.#chooseAgain(status) : undefined;
    try {
      await clock.sleep(half, signal);
      // By now a download has metadata and migrations, and clears the partition set for the images.
      if (taken !== undefined) this.#parts.sets.wipe();
      if ((await this.#mishap()) === 'killed') return;
      await clock.sleep(half, signal);
      this.#finish(action, status, taken);
    } finally {
      free();
      intervals.push({ action, startMs, endMs: clock.now() });
    }
  }

  /** What goes wrong half-way. */
  async #mishap(): Promise<'killed' | undefined> {
    const { clock, faults, signal, crash, restartApi } = this.#parts;
    if (faults.strikes('socket-replaced')) restartApi(1000);
    if (faults.strikes('socket-gone')) restartApi(20_000);
    if (faults.strikes('unplanned-reboot')) crash();
    if (faults.strikes('hang')) await clock.sleep(Infinity, signal);
    return faults.strikes('dispatcher-killed') ? 'killed' : undefined;
  }

  /**
   * What a download takes: the tool that writes images chooses by the settings and the repository of its own moment, whatever was chosen
   * before. Undefined where it finds nothing to do, or nobody to ask.
   */
  #chooseAgain(status: WireStatus): string | undefined {
    const { faults } = this.#parts;
    if (faults.leftMs('repository-gone') > 0) return undefined;
    if (faults.strikes('offer-changed')) {
      status.chosen_update = this.#image(this.#oldest);
      return this.#oldest;
    }
    return faults.strikes('torn-settings') ? this.#oldest : this.#choice();
  }

  #finish(action: ActionName, status: WireStatus, taken: string | undefined): void {
    const fault = this.#fault(action);
    if (fault === undefined) this.#apply(action, status, taken);
    else if (action === 'refresh' && status.update_state === 'Available') status.update_state = 'Idle';
    status.most_recent_command = {
      cmd_type: action,
      cmd_status: fault === undefined ? 'Success' : 'Failed',
      timestamp: this.#timestamp(),
      exit_status: fault === undefined ? 0 : 1,
      stderr: `${action === 'prepare' ? this.#words(taken) : ''}${fault ?? ''}`,
    };
  }

  #words(taken: string | undefined): string {
    const { faults } = this.#parts;
    if (faults.leftMs('repository-gone') > 0) return '';
    if (faults.leftMs('reworded') > 0) return `The image is ${taken ?? 'the one that runs'}\n`;
    return taken === undefined ? 'No update required\n' : `Starting update to ${taken}\n`;
  }

  #fault(action: ActionName): string | undefined {
    const { faults, sets } = this.#parts;
    if (faults.strikes(action)) return `Failed to ${action}: simulated fault`;
    const asks = action === 'refresh' || action === 'prepare';
    if (asks && faults.leftMs('repository-gone') > 0) return 'Failed to load the repository: simulated fault';
    const broken = action === 'activate' && sets.staged === undefined;
    return broken ? 'Failed to activate: the inactive partition holds no valid image' : undefined;
  }

  /** @param taken what a download took */
  #apply(action: ActionName, status: WireStatus, taken: string | undefined): void {
    const { sets } = this.#parts;
    switch (action) {
      case 'refresh':
        this.#choose(status);
        this.#meddle(status);
        break;
      case 'prepare':
        if (taken !== undefined) sets.write(taken);
        // What was chosen when the host last looked is taken for what is there now.
        status.staging_partition = status.chosen_update && { image: status.chosen_update, next_to_boot: false };
        status.update_state = 'Staged';
        break;
      case 'activate':
        sets.activate();
        this.#bootNext(status, 'staging');
        break;
      case 'deactivate':
        sets.deactivate();
        this.#bootNext(status, 'active');
        break;
    }
  }

  #choose(status: WireStatus): void {
    const { releases, sets } = this.#parts;
    const version = this.#choice();
    status.available_updates = releases.versions;
    status.chosen_update = version === undefined ? null : this.#image(version);
    status.active_partition ??= { image: this.#image(sets.running), next_to_boot: true };
    if (status.update_state === 'Idle' || status.update_state === 'Available') {
      status.update_state = version === undefined ? 'Idle' : 'Available';
    }
  }

  #choice(): string | undefined {
    const { clock, faults, releases, settings, sets } = this.#parts;
    if (faults.leftMs('no-wave') > 0) return undefined;
    const { seed, 'ignore-waves': ignoreWaves, 'version-lock': lock } = settings.updates;
    const versionLock = faults.leftMs('downgrade') > 0 ? this.#oldest : lock;
    return releases.choose({ running: sets.running, seed, ignoreWaves, versionLock, now: clock.now() });
  }

  get #oldest(): string {
    return this.#parts.releases.versions.at(-1) ?? this.#parts.sets.running;
  }

  /** What another tool does right before an action. */
  #forestall(action: ActionName, status: WireStatus): void {
    const { faults, releases } = this.#parts;
    if (action === 'prepare' && faults.strikes('released')) releases.publishNewer();
    if (action !== 'activate' || !faults.strikes('restaged-by-hand')) return;
    status.chosen_update = this.#image(this.#oldest);
    this.#apply('prepare', status, this.#oldest);
  }

  /** What another tool does right after a refresh. */
  #meddle(status: WireStatus): void {
    const { faults } = this.#parts;
    if (status.update_state !== 'Available') return;
    const activated = faults.strikes('activated-by-hand');
    if (activated || faults.strikes('staged-by-hand')) this.#apply('prepare', status, status.chosen_update?.version);
    if (activated) this.#apply('activate', status, undefined);
  }

  #bootNext(status: WireStatus, which: 'active' | 'staging'): void {
    const { active_partition: active, staging_partition: staging } = status;
    status.update_state = which === 'staging' ? 'Ready' : 'Staged';
    if (active) status.active_partition = { ...active, next_to_boot: which === 'active' };
    if (staging) status.staging_partition = { ...staging, next_to_boot: which === 'staging' };
  }

  #image(version: string): WireImage {
    const { arch, variant } = this.#parts;
    return { arch, version, variant };
  }

  /** RFC 3339 with nanoseconds. The last digits count, so that no two commands share a timestamp. */
  #timestamp(): string {
    this.#commands += 1;
    const nanoseconds = String(this.#commands % 1_000_000).padStart(6, '0');
    return rfc3339(this.#parts.clock.now(), { millis: true }).replace('Z', `${nanoseconds}Z`);
  }

  #held(fault: 'busy' | 'reader' | 'dispatcher-missing'): boolean {
    return this.#parts.faults.leftMs(fault) > 0;
  }
}
