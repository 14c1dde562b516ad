/**
 * What the agent can ask of the host it runs on. The host answers before its work is done, its lock is sometimes taken, and its API server
 * restarts. Each call hides this, and settles when the answer is final. All calls but `bootId`:
 * - reject with the signal's reason as soon as it aborts, while the host's own work goes on;
 * - ask a busy host again, and reject with `HostBusyError` when it was busy until the call's deadline;
 * - ask a host in trouble again. That is a host that does not answer, cannot begin, or answers what its API does not know. They reject with
 *   `HostUnreachableError`, `HostActionFailedError` or `HostProtocolError` when the trouble has lasted for 60 seconds without a break,
 *   beyond the deadline if need be.
 *
 * Bottlerocket's API is the model. A driver for a host that works in another way keeps to the same order: what it prepares does not boot
 * before it is activated, because activation comes after the drain. Where a host's tool cannot keep the two apart, `prepare` only looks whether
 * the version can be had, and `activate` does the work.
 */
export interface HostUpdater {
  /** What is true of every host of this driver. */
  readonly traits: HostTraits;

  /**
   * Takes the annotations of the node's shadow. A driver of a host that is told its versions reads further details of the order there. It is
   * called each time they may have changed, and before other calls that depend on them.
   */
  takeOrder?(annotations: Readonly<Record<string, string>>): void;

  /** What the host runs. It changes only with a reboot. */
  os(signal?: AbortSignal): Promise<OsInfo>;

  /** The kernel's identity of the present boot: another one after each reboot. @throws BootIdError */
  bootId(): Promise<string>;

  /**
   * What the host's settings say of its updates. It is asked once, for two seconds at most, and never rejects: undefined where there is no
   * answer. Absent where hosts of this driver have no such settings.
   */
  updateSettings?(signal?: AbortSignal): Promise<HostSettings | undefined>;

  /** The settings that keep the host at a version. Absent where hosts of this driver have none. */
  readonly lock?: HostLock;

  /** What the host knows of updates; undefined before the first action after its boot (refresh first). */
  status(signal?: AbortSignal): Promise<HostStatus | undefined>;

  /**
   * Makes the host look for updates, and waits for the end (two minutes at most). In the states Staged and Ready, `chosen` may differ from
   * what is staged afterwards. A host that is told its versions chooses none: it only says what is staged.
   * @throws HostActionFailedError, HostActionLostError, UpdatesUnsupportedError
   */
  refresh(signal?: AbortSignal): Promise<HostStatus>;

  /**
   * Downloads `version` into the inactive partition, and waits for the end (`limits.prepareMs` at most). Nothing is asked of a host that offers
   * versions and does not offer this one. A version that is staged is downloaded again: look at `status` first.
   * @throws OfferChangedError when the host offers another version or none
   * @throws OtherImageError when the host downloaded another version or none, because it chooses again when it downloads
   * @throws WriteFailedError when it had begun to write the image
   * @throws HostActionFailedError, HostActionLostError, HostRefusedError, UpdateGoneError, UpdatesUnsupportedError
   */
  prepare(version: string, signal?: AbortSignal): Promise<HostStatus>;

  /**
   * Makes the staged `version` the one to boot next, and waits for the end (`limits.activateMs` at most). Nothing is done where it is
   * activated already.
   * @throws UpdateGoneError when another version or none is staged, before or after the activation, which may have activated that one
   * @throws WriteFailedError from a host whose activation downloads and writes the release
   * @throws HostActionFailedError, HostActionLostError, HostRefusedError, UpdatesUnsupportedError
   */
  activate(version: string, signal?: AbortSignal): Promise<HostStatus>;

  /**
   * Makes the running version the one to boot next, and waits for the end (three minutes at most). Nothing is done where nothing is
   * activated. Where an activation was cut off, only a download undoes that (`limits.prepareMs` at most).
   * @throws HostActionFailedError, HostActionLostError, HostRefusedError, UpdateGoneError, UpdatesUnsupportedError
   */
  deactivate(signal?: AbortSignal): Promise<HostStatus | undefined>;

  /** An activation may have been cut off, so that what is in the inactive partition may be written over when it is deactivated. */
  readonly isCutOff?: boolean;

  /**
   * Asks for a reboot, and asks again where no answer comes. Resolves when the host has accepted it, or when it may have accepted it and
   * has not answered for a minute. The host goes down some time later (within `limits.goingDownMs`), or never.
   * @throws HostActionFailedError when the host answers that it cannot
   */
  reboot(signal?: AbortSignal): Promise<void>;
}

/** What a driver can do. Steps go by this alone, and never by the kind of host. */
export interface HostTraits {
  /**
   * Who says which version comes next. `offered`: the host chooses an update, and takes no other. `told`: the order does, and the host takes
   * what it is told.
   */
  readonly versions: 'offered' | 'told';
  readonly limits: HostLimits;
}

/** How long a host may take, and may fail and be asked again, until the attempt has failed. Milliseconds. */
interface HostLimits {
  readonly prepareMs: number;
  /** The node is drained meanwhile. */
  readonly activateMs: number;
  /** From the request to reboot until the host is down. */
  readonly goingDownMs: number;
}

export interface OsInfo {
  /** e.g. `1.38.0`. */
  readonly version: string;
  /** e.g. `aws-k8s-1.33`. */
  readonly variant: string;
  /** e.g. `x86_64`. */
  readonly arch: string;
}

/** Of `settings.updates`; a field that the host does not tell is absent. */
export interface HostSettings {
  /** Its position in the waves of releases. */
  readonly seed?: number | undefined;
  readonly ignore_waves?: boolean | undefined;
  /** `latest` or a version. */
  readonly version_lock?: string | undefined;
  /** Without user and query. */
  readonly metadata_base_url?: string | undefined;
}

/** Each call asks a host in trouble again, as those of HostUpdater do. All @throws SettingsRefusedError */
export interface HostLock {
  read(signal?: AbortSignal): Promise<LockedAs>;
  /** From then on it outlives boots. It counts once it is applied, or at the next boot. */
  commit(change: LockChange, signal?: AbortSignal): Promise<void>;
  /** The tools for updates get to know these settings soon after, or not: no host says when, or whether. */
  apply(keys: LockChange, signal?: AbortSignal): Promise<void>;
}

export interface LockedAs {
  /** `latest` or a version, with a `v` or without. */
  readonly version_lock: string;
  readonly ignore_waves: boolean;
}

export type LockChange = Partial<LockedAs>;

export interface HostStatus {
  readonly state: UpdateState;
  /** What the host may have by waves and max_version, the newest first, whatever it is locked to; undefined where it does not say. */
  readonly available?: readonly string[] | undefined;
  /** The update that the host offers; undefined where it offers none. */
  readonly chosen: Image | undefined;
  /** The partition that runs. */
  readonly active: Partition | undefined;
  /**
   * The other partition. A refresh that chooses another version does not change it. It is also undefined where the host's last command was
   * a prepare that contradicts the status. After any other command, the status repeats the version that was chosen before the download,
   * even if another one was written.
   */
  readonly staging: Partition | undefined;
  readonly lastCommand: HostCommand | undefined;
}

/** `Staged`: an image is in the inactive partition. `Ready`: that image is activated and boots next. */
type UpdateState = 'Idle' | 'Available' | 'Staged' | 'Ready';

export interface Image {
  readonly version: string;
  readonly variant: string;
  readonly arch: string;
}

export interface Partition {
  readonly image: Image;
  readonly nextToBoot: boolean;
}

export type HostAction = 'refresh' | 'prepare' | 'activate' | 'deactivate';

/** The last action that ended on the host, whoever asked for it. */
export interface HostCommand {
  readonly type: HostAction;
  readonly status: 'Success' | 'Failed' | 'Unknown';
  /** When it ended, as RFC 3339 in UTC with nanoseconds. No two commands have the same. */
  readonly timestamp: string;
  readonly exit: number | undefined;
  /** After a success it may hold warnings. */
  readonly stderr: string | undefined;
  /** The version that a prepare says it downloaded; null where it found none; undefined where it does not say. */
  readonly chose: string | null | undefined;
}
