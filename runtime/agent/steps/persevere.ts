import { backoff } from '../../lib/retry.ts';
import { isDeadMount } from '../failure.ts';
import {
  HostActionFailedError,
  HostActionLostError,
  HostBusyError,
  HostHungError,
  HostProtocolError,
  HostUnreachableError,
} from '../host/errors.ts';
import type { Session } from '../session.ts';

/** How a step goes about work on the host that may fail for a while. */
export interface Perseverance {
  readonly session: Session;
  /** On the clock's monotonic scale, milliseconds: no attempt begins later. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** A download that fails costs the update repository as much as one that does not. */
const PAUSES = { firstMs: 5000, maxMs: 60_000 };

/** No work of a host takes as long. Without this limit one that hangs would keep its node's place in the rollout for ever. */
const HUNG_MS = 2 * 3600_000;

/** For a step that begins now and has `ms` milliseconds. */
export function persevering(session: Session, ms: number, signal: AbortSignal): Perseverance {
  return { session, deadline: session.ports.clock.monotonic() + ms, signal };
}

/**
 * Asks the host until that succeeds or the deadline of the step has come, ever less often.
 * @param ask gets how often it has failed before
 * @throws what `ask` threw last, or at once where time alone changes nothing
 */
export async function persevere<T>(
  { session, deadline, signal }: Perseverance,
  ask: (failures: number) => Promise<T>,
): Promise<T> {
  const { clock, random, logger } = session.ports;
  for (let failures = 0; ; failures++) {
    try {
      const answer = await ask(failures);
      session.busySince = undefined;
      return answer;
    } catch (error) {
      if (error instanceof HostBusyError) throw busyOrHung(session, error);
      const pause = backoff(failures, { ...PAUSES, random });
      if (signal.aborted || !mayPass(error) || clock.monotonic() + pause > deadline) throw error;
      logger.info('the host has failed, and is asked again', { error, failures: failures + 1 });
      await clock.sleep(pause, signal);
    }
  }
}

/** A busy host is no failure, however often the step has to begin again for it; one that hangs is. */
function busyOrHung(session: Session, error: HostBusyError): HostBusyError | HostHungError {
  const now = session.ports.clock.monotonic();
  session.busySince ??= now;
  if (now - session.busySince < HUNG_MS) return error;
  return new HostHungError(`busy for ${HUNG_MS / 3600_000} hours: ${error.message}`, { cause: error });
}

/** Not for a dead mount, which a new container cures at once, nor for what the host's own state forbids. */
function mayPass(error: unknown): boolean {
  if (error instanceof HostUnreachableError) return !isDeadMount(error);
  return (
    error instanceof HostActionFailedError || error instanceof HostActionLostError || error instanceof HostProtocolError
  );
}
