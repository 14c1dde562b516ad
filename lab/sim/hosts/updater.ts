import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { DONE, type HostAnswer, json, text } from './answer.ts';
import { background } from './background.ts';
import type { FaultName } from './faults.ts';
import type { HostRepository } from './repository.ts';
import type { HostParts } from './times.ts';
import { type ActionName, freshStatus, type WireImage, type WireStatus } from './update-status.ts';
import type { ToolEnd, Updog } from './updog.ts';

export interface UpdaterParts extends HostParts {
  readonly repository: HostRepository;
  readonly updog: Updog;
  /** The host's API server goes away for `awayMs`. */
  readonly restartApi: (awayMs: number) => void;
}

/** How long systemd waits before it starts an API server that has ended, milliseconds. */
const RESTART_MS = 5000;

/** What is told of a tool that was killed. */
const SIGKILL = 9;

interface Run {
  readonly status: WireStatus;
  /** What updog is made to write. */
  readonly image: string | undefined;
  readonly signal: AbortSignal;
}

const ALLOWED: Readonly<Record<ActionName, readonly WireStatus['update_state'][]>> = {
  refresh: ['Idle', 'Available', 'Staged', 'Ready'],
  prepare: ['Available', 'Staged'],
  activate: ['Staged'],
  deactivate: ['Ready'],
};

/**
 * The host's dispatcher of updates, from one boot to the next: its status lives in memory only. An action is answered when it has begun; its
 * own process holds the lock while updog works, and writes what came of it into the status.
 */
export class Updater {
  readonly #parts: UpdaterParts;
  /** Whether an action has the lock of the status; nobody ever waits for it. */
  #isLocked = false;
  #status: WireStatus | undefined;
  /** The file of the status holds no whole one, and nobody who reads it first can write it again. */
  #isTorn = false;
  #commands = 0;

  constructor(parts: UpdaterParts) {
    this.#parts = parts;
  }

  status(): HostAnswer {
    if (this.#held('busy') || this.#isLocked) {
      const why = 'Resource temporarily unavailable (os error 11)';
      return text(423, `Unable to obtain shared lock for reading update status: ${why}`);
    }
    if (this.#isTorn) return text(500, 'Update dispatcher failed');
    if (this.#status) return json(this.#status);
    return text(404, 'Update status is uninitialized, refresh-updates to initialize it');
  }

  /** @param signal ends what it starts */
  start(action: ActionName, signal: AbortSignal): HostAnswer {
    const { faults } = this.#parts;
    if (this.#held('dispatcher-missing')) {
      return text(500, 'Unable to start the update dispatcher: No such file or directory (os error 2) ');
    }
    if (faults.strikes('dispatcher-failed')) return text(500, 'Update dispatcher failed');
    if (this.#held('busy') || this.#held('reader') || this.#isLocked) return text(423, 'Update lock held');
    if (this.#isTorn) return text(500, 'Update dispatcher failed');
    this.#status ??= freshStatus(this.#image(this.#parts.sets.running));
    const image = this.#forestall(action, this.#status);
    const refusal = this.#refusal(action, this.#status);
    if (refusal) return refusal;
    this.#isLocked = true;
    background(this.#run(action, { status: this.#status, image, signal }), signal);
    return DONE;
  }

  #refusal(action: ActionName, status: WireStatus): HostAnswer | undefined {
    if (!ALLOWED[action].includes(status.update_state)) {
      return text(409, 'Update action not allowed according to update state');
    }
    if (action === 'prepare' && !status.chosen_update) return text(404, 'Previously chosen Update no longer exists');
    if (action !== 'refresh' && action !== 'prepare' && !status.staging_partition) {
      return text(404, 'No update image applied to staging partition');
    }
    return undefined;
  }

  async #run(action: ActionName, { status, image, signal }: Run): Promise<void> {
    const { faults, updog } = this.#parts;
    let isKilled = false;
    // The lock is the dispatcher's. Updog goes on without it.
    const kill = (): void => {
      isKilled = true;
      this.#isLocked = false;
    };
    if (this.#held('updog-missing')) return kill();
    const midway = (): void => {
      this.#restart();
      if (faults.strikes('dispatcher-killed')) kill();
    };
    try {
      const end = await updog.run(action, { signal, image, midway });
      if (!isKilled) this.#finish(action, status, end);
    } finally {
      if (!isKilled) this.#isLocked = false;
    }
  }

  /** The API server ends in the middle of an action, and with it all that it has started. */
  #restart(): void {
    const { faults, restartApi } = this.#parts;
    if (faults.strikes('socket-replaced')) restartApi(RESTART_MS);
    if (faults.strikes('socket-gone')) restartApi(20_000);
  }

  #finish(action: ActionName, status: WireStatus, { exit, stderr }: ToolEnd): void {
    this.#isTorn = this.#parts.faults.strikes('torn-status');
    if (exit === 0) this.#apply(action, status);
    else if (action === 'refresh' && status.update_state === 'Available') status.update_state = 'Idle';
    status.most_recent_command = {
      cmd_type: action,
      cmd_status: exit === 0 ? 'Success' : 'Failed',
      timestamp: this.#timestamp(),
      exit_status: exit ?? SIGKILL,
      stderr,
    };
  }

  #apply(action: ActionName, status: WireStatus): void {
    switch (action) {
      case 'refresh':
        if (this.#held('stale-choice')) return;
        this.#choose(status);
        this.#meddle(status);
        break;
      case 'prepare':
        // What was chosen when the host last looked is taken for what is there now.
        status.staging_partition = status.chosen_update && { image: status.chosen_update, next_to_boot: false };
        status.update_state = 'Staged';
        break;
      case 'activate':
        this.#bootNext(status, 'staging');
        break;
      case 'deactivate':
        this.#bootNext(status, 'active');
        break;
    }
  }

  #choose(status: WireStatus): void {
    const { available, choice } = this.#parts.repository;
    status.available_updates = available;
    status.chosen_update = choice === undefined ? null : this.#image(choice);
    if (status.update_state === 'Idle' || status.update_state === 'Available') {
      status.update_state = choice === undefined ? 'Idle' : 'Available';
    }
  }

  /** What another tool does right before an action. Returns the image that it makes updog write. */
  #forestall(action: ActionName, status: WireStatus): string | undefined {
    const { faults, repository, sets } = this.#parts;
    const { oldest } = repository;
    if (action === 'prepare' && status.chosen_update && faults.strikes('offer-changed')) {
      status.chosen_update = this.#image(oldest);
      return oldest;
    }
    if (action !== 'activate' || !faults.strikes('restaged-by-hand')) return undefined;
    status.chosen_update = this.#image(oldest);
    sets.write(oldest);
    this.#apply('prepare', status);
    return undefined;
  }

  /** What another tool does right after a refresh. */
  #meddle(status: WireStatus): void {
    const { faults, sets } = this.#parts;
    const version = status.chosen_update?.version;
    if (status.update_state !== 'Available' || version === undefined) return;
    const activated = faults.strikes('activated-by-hand');
    if (!activated && !faults.strikes('staged-by-hand')) return;
    sets.write(version);
    this.#apply('prepare', status);
    if (!activated) return;
    sets.activate();
    this.#apply('activate', status);
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

  #held(fault: FaultName): boolean {
    return this.#parts.faults.leftMs(fault) > 0;
  }
}
