import type { HostAction } from './port.ts';

/** Any failure of a host to do what it was asked. */
export abstract class HostError extends Error {}

/** No answer: refused, reset, timed out, no permission, cut off. */
export class HostUnreachableError extends HostError {
  override readonly name = 'HostUnreachableError';
  /** The system's word for it, e.g. `ECONNREFUSED`, `ENOENT`, `EACCES`, `ECONNRESET`, `ETIMEDOUT`. */
  readonly code: string;
  constructor(call: string, code: string, options?: ErrorOptions) {
    super(`${call}: no answer (${code})`, options);
    this.code = code;
  }

  /** Nothing listens behind the socket file: after a restart of the host's API server a mount of the old file stays like this. */
  get socketDead(): boolean {
    return this.code === 'ECONNREFUSED' || this.code === 'ENOENT';
  }

  /** The request cannot have reached the host; with any other code it may have, or not. */
  get unsent(): boolean {
    return this.socketDead || this.code === 'EACCES';
  }
}

/** The kernel's boot id is not where it should be. Says nothing of the host's API. */
export class BootIdError extends HostError {
  override readonly name = 'BootIdError';
}

/** Other work kept the update lock for as long as the call may take. Not a failure of the update. */
export class HostBusyError extends HostError {
  override readonly name = 'HostBusyError';
}

/** The update lock has been held for hours: whatever holds it hangs, and will until the host boots. */
export class HostHungError extends HostError {
  override readonly name = 'HostHungError';
}

/** The host answered something that its API does not know: a broken body, or a status that has no meaning for the call. */
export class HostProtocolError extends HostError {
  override readonly name = 'HostProtocolError';
}

/** The host tried and failed, or said that it cannot try. */
export class HostActionFailedError extends HostError {
  override readonly name = 'HostActionFailedError';
  readonly action: HostAction | 'reboot';
  /** Exit status of the host's tool, where the host told it. */
  readonly exit: number | undefined;
  /** What the host's tool wrote, or what the host answered. */
  readonly stderr: string;
  constructor(action: HostAction | 'reboot', stderr: string, exit?: number) {
    super(`${action} failed on the host${exit === undefined ? '' : ` with exit status ${exit}`}: ${stderr.trim()}`);
    this.action = action;
    this.stderr = stderr;
    this.exit = exit;
  }

  /** The host's tool did not come to do anything: it may the next time. */
  get notBegun(): boolean {
    return this.exit === undefined;
  }
}

/** The host began and left no result: its tool was killed, hangs beyond the deadline, or the host restarted in between. */
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

/** The update that was meant is no longer there: not among the host's updates, or not in its staging slot. */
export class UpdateGoneError extends HostError {
  override readonly name = 'UpdateGoneError';
}

/** The host offers another version than the one meant, or none. */
export class OfferChangedError extends HostError {
  override readonly name = 'OfferChangedError';
  readonly offered: string | undefined;
  constructor(wanted: string, offered: string | undefined) {
    super(`${wanted} was to be prepared, but the host offers ${offered ?? 'no update'}`);
    this.offered = offered;
  }
}

/** The host took another version than it offered, or none: what is in its slot is not what its status says. */
export class OtherImageError extends HostError {
  override readonly name = 'OtherImageError';
  constructor(wanted: string, taken: string | null | undefined) {
    super(`${wanted} was to be prepared, but the host took ${taken ?? 'no update'}`);
  }
}

/** The image has no tool for updates in place. Nothing that an agent does will change that. */
export class UpdatesUnsupportedError extends HostError {
  override readonly name = 'UpdatesUnsupportedError';
}
