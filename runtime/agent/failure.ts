import type { FailureReason } from '../api/shadow/model.ts';
import {
  HostBusyError,
  HostError,
  isDeadMount,
  NoMigrationsError,
  OfferChangedError,
  UpdateGoneError,
  UpdatesUnsupportedError,
  WriteFailedError,
} from './hosts/errors.ts';
import type { HostAction } from './hosts/port.ts';

/** The attempt has failed, for a reason that the status will state. */
export class StepFailedError extends Error {
  override readonly name = 'StepFailedError';
  readonly reason: FailureReason;
  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Turns a host error of `work` into a failed attempt. A busy host and a dead mount are no failure of the update: their errors are thrown
 * unchanged.
 * @param action what the host is asked for
 * @throws StepFailedError
 */
export async function failStepAs<T>(action: HostAction | 'reboot', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostBusyError || isDeadMount(error) || !(error instanceof HostError)) throw error;
    throw new StepFailedError(reasonOf(error, action), error.message, { cause: error });
  }
}

/** The release is blamed only where the host had begun to write it. Activation reads the repository, but never the release. */
function reasonOf(error: HostError, action: HostAction | 'reboot'): FailureReason {
  if (error instanceof UpdatesUnsupportedError) return 'Unsupported';
  if (action === 'reboot') return 'RebootFailed';
  if (error instanceof OfferChangedError) return 'TargetChanged';
  // After its download an update is only lost when somebody on the host removes it. A new attempt at once would drain the node again.
  if (error instanceof UpdateGoneError && action === 'prepare') return 'TargetChanged';
  return error instanceof WriteFailedError || error instanceof NoMigrationsError ? 'PrepareFailed' : 'HostFailed';
}
