/**
 * What the agent can ask of the host it runs on. Each call hides the host's own ways (answers before the work is done, a lock that is
 * taken now and then, an API server that restarts) and settles when the answer is final. All of them but `bootId`:
 *
 * - reject with the signal's reason as soon as it aborts; the host's own work goes on regardless;
 * - retry a busy host, a host that does not answer or cannot begin and answers that make no sense, and reject with `HostBusyError`,
 *   `HostUnreachableError`, `HostActionFailedError` or `HostProtocolError` only when it was busy to the call's deadline, or when the other
 *   trouble has lasted for 60 seconds without a break, beyond the deadline if need be.
 */
export interface HostUpdater {
  /** What the host runs. Changes only at a reboot. */
  os(signal?: AbortSignal): Promise<OsInfo>;

  /** The identity of the present boot, from the kernel: another one after each reboot. @throws BootIdError */
  bootId(): Promise<string>;

  /** What the host knows of updates; undefined when nothing was asked of it since it booted (refresh first). */
  status(signal?: AbortSignal): Promise<HostStatus | undefined>;

  /**
   * Makes the host look for updates, and waits for the end of it (60 seconds at most). In states Staged and Ready, `chosen` may come
   * to differ from what is staged.
   * @throws HostActionFailedError, HostActionLostError, UpdatesUnsupportedError
   */
  refresh(signal?: AbortSignal): Promise<HostStatus>;

  /**
   * Downloads `version` into the inactive slot, and waits for the end of it (20 minutes at most). The host is not asked for anything
   * unless it offers just this version. Downloads again where it is staged already: look at `status` first.
   * @throws OfferChangedError when the host offers something else or nothing
   * @throws OtherImageError when the host took something else, or nothing, all the same: it chooses again when it downloads
   * @throws HostActionFailedError, HostActionLostError, HostRefusedError, UpdateGoneError, UpdatesUnsupportedError
   */
  prepare(version: string, signal?: AbortSignal): Promise<HostStatus>;

  /**
   * Makes the staged `version` the one to boot next, and waits for the end of it (60 seconds at most). Nothing is done where it is
   * so already.
   * @throws UpdateGoneError when another version or none is staged, before or after; another one may be activated then
   * @throws HostActionFailedError, HostActionLostError, HostRefusedError, UpdatesUnsupportedError
   */
  activate(version: string, signal?: AbortSignal): Promise<HostStatus>;

  /**
   * Makes the running version the one to boot next, and waits for the end of it (60 seconds at most). Resolves at once where
   * nothing is activated.
   * @throws HostActionFailedError, HostActionLostError, HostRefusedError, UpdateGoneError, UpdatesUnsupportedError
   */
  deactivate(signal?: AbortSignal): Promise<HostStatus | undefined>;

  /**
   * Asks for a reboot, again where no answer comes. Resolves when the host accepted it, or may have without an answer for a minute; the
   * host goes down some time later, up to 300 seconds where an inhibitor delays it, or never.
   * @throws HostActionFailedError when the host answers that it cannot
   */
  reboot(signal?: AbortSignal): Promise<void>;
}

export interface OsInfo {
  /** e.g. `1.38.0`. */
  readonly version: string;
  /** e.g. `aws-k8s-1.33`. */
  readonly variant: string;
  /** e.g. `x86_64`. */
  readonly arch: string;
}

export interface HostStatus {
  readonly state: UpdateState;
  /** The update that the host offers; undefined when there is none for it, now or ever. */
  readonly chosen: Image | undefined;
  /** The slot that runs. */
  readonly active: Slot | undefined;
  /**
   * The other slot. Kept when a refresh chooses something else. Undefined as well where the host's last command was a prepare that does not
   * bear out what the status says. After any other command nobody can tell: the status repeats what was chosen before the download.
   */
  readonly staging: Slot | undefined;
  readonly lastCommand: HostCommand | undefined;
}

/** `Staged`: an image is in the inactive slot; `Ready`: it is activated as well and boots next. */
export type UpdateState = 'Idle' | 'Available' | 'Staged' | 'Ready';

export interface Image {
  readonly version: string;
  readonly variant: string;
  readonly arch: string;
}

export interface Slot {
  readonly image: Image;
  readonly nextToBoot: boolean;
}

export type HostAction = 'refresh' | 'prepare' | 'activate' | 'deactivate';

/** The last action that the host ended, whoever asked for it. */
export interface HostCommand {
  readonly type: HostAction;
  readonly status: 'Success' | 'Failed' | 'Unknown';
  /** RFC 3339 in UTC with nanoseconds: when it ended. Another one for each command. */
  readonly timestamp: string;
  readonly exit: number | undefined;
  /** May hold warnings of a success. */
  readonly stderr: string | undefined;
  /** Of a prepare, in its own words: the version that it went for; null where it found none; undefined where it does not say. */
  readonly chose: string | null | undefined;
}
