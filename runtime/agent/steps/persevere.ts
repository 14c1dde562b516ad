import { backoff } from '../../lib/retry.ts';
import { isDeadMount } from '../failure.ts';
import { HostActionFailedError, HostActionLostError, HostProtocolError, HostUnreachableError } from '../host/errors.ts';
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
      return await ask(failures);
    } catch (error) {
      const pause = backoff(failures, { ...PAUSES, random });
      if (signal.aborted || !mayPass(error) || clock.monotonic() + pause > deadline) throw error;
      logger.info('the host has failed, and is asked again', { error, failures: failures + 1 });
      await clock.sleep(pause, signal);
    }
  }
}

/** Not for a dead mount, which a new container cures at once, nor for what the host's own state forbids. */
function mayPass(error: unknown): boolean {
  if (error instanceof HostUnreachableError) return !isDeadMount(error);
  return (
    error instanceof HostActionFailedError || error instanceof HostActionLostError || error instanceof HostProtocolError
  );
}
