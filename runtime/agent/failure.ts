import type { FailureReason } from '../shadow/model.ts';
import {
  HostActionFailedError,
  HostActionLostError,
  HostBusyError,
  HostError,
  HostUnreachableError,
  OfferChangedError,
  UpdateGoneError,
  UpdatesUnsupportedError,
} from './host/errors.ts';

/** The attempt has failed; the controller and the people should know why. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError';
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The socket of the host's API is a dead mount: only a new container gets a live one. */
export function isDeadMount(error: unknown): error is HostUnreachableError {
  return error instanceof HostUnreachableError && error.socketDead;
}

/** What a step's host calls may be blamed on. */
export type Blame = 'PrepareFailed' | 'ActivateFailed' | 'RebootFailed' | 'HostFailed';

/**
 * What a step's host calls fail with, blamed on `reason`; what is nobody's failure is thrown on as it is. A release is blamed only where
 * the host came to try it.
 */
export async function blaming<T>(reason: Blame, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostBusyError || isDeadMount(error) || !(error instanceof HostError)) throw error;
    throw new StepFailedError(reasonOf(error, reason), error.message, { cause: error });
  }
}

function reasonOf(error: HostError, reason: Blame): FailureReason {
  if (error instanceof UpdatesUnsupportedError) return 'Unsupported';
  if (reason === 'RebootFailed') return reason;
  if (error instanceof OfferChangedError) return 'TargetChanged';
  // Once it has been prepared its loss is the doing of somebody on the host, and trying again at once would drain the node again.
  if (error instanceof UpdateGoneError && reason === 'PrepareFailed') return 'TargetChanged';
  return triedRelease(error) ? reason : 'HostFailed';
}

function triedRelease(error: HostError): boolean {
  const begun = error instanceof HostActionLostError || (error instanceof HostActionFailedError && !error.notBegun);
  return begun && (error.action === 'prepare' || error.action === 'activate');
}
