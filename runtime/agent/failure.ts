import type { FailureReason } from '../shadow/model.ts';
import {
  HostBusyError,
  HostError,
  HostUnreachableError,
  OfferChangedError,
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

/** What a step's host calls fail with, blamed on `reason`; what is nobody's failure is thrown on as it is. */
export async function blaming<T>(reason: FailureReason, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostBusyError || isDeadMount(error) || !(error instanceof HostError)) throw error;
    throw new StepFailedError(reasonOf(error) ?? reason, error.message, { cause: error });
  }
}

function reasonOf(error: HostError): FailureReason | undefined {
  if (error instanceof UpdatesUnsupportedError) return 'Unsupported';
  return error instanceof OfferChangedError ? 'TargetChanged' : undefined;
}
