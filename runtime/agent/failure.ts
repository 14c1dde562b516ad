import type { FailureReason } from '../shadow/model.ts';
import {
  HostActionFailedError,
  HostActionLostError,
  HostBusyError,
  HostError,
  isDeadMount,
  OfferChangedError,
  UpdateGoneError,
  UpdatesUnsupportedError,
} from './host/errors.ts';

/** The attempt has failed, for a reason that the status will state. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError';
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** What a step's host calls may be blamed on. */
type Blame = 'PrepareFailed' | 'ActivateFailed' | 'RebootFailed' | 'HostFailed';

/**
 * Turns a host error of `work` into a failed attempt. Its reason is `reason` where the host has tried the OS release. A busy host and a
 * dead mount are no failure of the update: their errors are thrown unchanged.
 * @throws StepFailedError
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
  // After its download an update is only lost when somebody on the host removes it. A new attempt at once would drain the node again.
  if (error instanceof UpdateGoneError && reason === 'PrepareFailed') return 'TargetChanged';
  return triedRelease(error) ? reason : 'HostFailed';
}

function triedRelease(error: HostError): boolean {
  const begun = error instanceof HostActionLostError || (error instanceof HostActionFailedError && !error.notBegun);
  return begun && (error.action === 'prepare' || error.action === 'activate');
}
