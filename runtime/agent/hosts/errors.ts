import type { HostAction } from './port.ts';

/** Any failure of a host to do what it was asked. */
export abstract class HostError extends Error {}

/** The host gave no whole answer: the connection was refused, reset, timed out, not permitted or cut off. */
export class HostUnreachableError extends HostError {
  override readonly name = 'HostUnreachableError';
  /** The system's word for it, e.g. `ECONNREFUSED`, `ENOENT`, `EACCES`, `ECONNRESET`, `ETIMEDOUT`; `ESTALE` as in `isDeadMount`. */
  readonly code: string;
  constructor(call: string, code: string, options?: ErrorOptions) {
    super(`${call}: no answer (${code})`, options);
    this.code = code;
  }

  /** Nothing listens behind the socket file. */
  get socketDead(): boolean {
    return this.code === 'ECONNREFUSED' || this.code === 'ENOENT' || this.code === 'ESTALE';
  }

  /** The request cannot have reached the host. With any other code it may have. */
  get unsent(): boolean {
    return this.socketDead || this.code === 'EACCES';
  }
}

/** The kernel's boot id cannot be read. This says nothing about the host's API. */
export class BootIdError extends HostError {
  override readonly name = 'BootIdError';
}

/** Other work has kept the update lock for as long as the call may take. This is no failure of the update. */
export class HostBusyError extends HostError {
  override readonly name = 'HostBusyError';
}

/** The update lock has been held for hours. Whatever holds it hangs, and will hang until the host boots. */
export class HostHungError extends HostError {
  override readonly name = 'HostHungError';
}

/** The host's answer does not fit its API: a broken body, or a status that the call does not have. */
export class HostProtocolError extends HostError {
  override readonly name = 'HostProtocolError';
}

/** The host tried the action and failed, or said that it cannot begin. */
export class HostActionFailedError extends HostError {
  override readonly name: string = 'HostActionFailedError';
  readonly action: HostAction | 'reboot';
  /** Exit status of the host's tool, where the host told it. */
  readonly exit: number | undefined;
  /** @param stderr what the host's tool wrote, or what the host answered */
  constructor(action: HostAction | 'reboot', stderr: string, exit?: number) {
    super(`${action} failed on the host${exit === undefined ? '' : ` with exit status ${exit}`}: ${stderr.trim()}`);
    this.action = action;
    this.exit = exit;
  }

  /** The host's tool did not start. It may start the next time. */
  get notBegun(): boolean {
    return this.exit === undefined;
  }
}

/** The host had begun to write a release, and failed at that. No other error says anything about the release. */
export class WriteFailedError extends HostActionFailedError {
  override readonly name = 'WriteFailedError';
}

/** The repository has no path of migrations between the two versions. Nothing was written, and time does not help. */
export class NoMigrationsError extends HostError {
  override readonly name = 'NoMigrationsError';
}

/** What the failure of an action is called. @param failure `hasWritten` where it had begun to write a release */
export function failedAction(
  action: HostAction,
  failure: { readonly stderr: string; readonly exit: number | undefined; readonly hasWritten: boolean },
): HostError {
  if (/Reached end of migration chain/.test(failure.stderr)) return new NoMigrationsError(failure.stderr.trim());
  return new (failure.hasWritten ? WriteFailedError : HostActionFailedError)(action, failure.stderr, failure.exit);
}

/** The host began the action and left no result: its tool was killed or runs beyond the deadline, or the host restarted. */
export class HostActionLostError extends HostError {
  override readonly name = 'HostActionLostError';
  readonly action: HostAction;
  constructor(action: HostAction, why: string) {
    super(`${action} left no result on the host: ${why}`);
    this.action = action;
  }
}

/** 409: the host's update state does not allow the action. */
export class HostRefusedError extends HostError {
  override readonly name = 'HostRefusedError';
}

/** The wanted update is gone: it is not among the host's updates, or not in its staging partition. */
export class UpdateGoneError extends HostError {
  override readonly name = 'UpdateGoneError';
}

/** The host offers another version than the wanted one, or none. */
export class OfferChangedError extends HostError {
  override readonly name = 'OfferChangedError';
  constructor(wanted: string, offered: string | undefined) {
    super(`${wanted} was to be prepared, but the host offers ${offered ?? 'no update'}`);
  }
}

/** The host downloaded another version than it offered, or none. What is in its partition is not what its status says. */
export class OtherImageError extends HostError {
  override readonly name = 'OtherImageError';
  constructor(wanted: string, taken: string | null | undefined) {
    super(`${wanted} was to be prepared, but the host took ${taken ?? 'no update'}`);
  }
}

/** The host does not let its settings be read or changed: because it is locked down until it boots, or has no such settings. */
export class SettingsRefusedError extends HostError {
  override readonly name = 'SettingsRefusedError';
  readonly reason: 'Lockdown' | 'NoSettings';
  constructor(reason: 'Lockdown' | 'NoSettings', message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The image has no tool for updates in place. An agent cannot change that. */
export class UpdatesUnsupportedError extends HostError {
  override readonly name = 'UpdatesUnsupportedError';
}

/**
 * The mounted socket file has been unlinked: the host's API server has made a new one, and only a new container gets that. While the server is
 * away its file stays, and the agent must too: for a new container without the file, the container runtime makes a folder in its place, and the
 * server could never listen there again.
 */
export function isDeadMount(error: unknown): error is HostUnreachableError {
  return error instanceof HostUnreachableError && error.code === 'ESTALE';
}
