import { jitter } from '../../lib/random.ts';
import { isDeadMount } from '../failure.ts';
import { HostError, UpdatesUnsupportedError } from '../host/errors.ts';
import type { Session } from '../session.ts';
import { offering } from '../status.ts';
import { deactivate } from './deactivate.ts';

/** Part of the interval in which the first look falls: 3 seconds of two minutes, which nobody waits for in vain. */
const FIRST_WITHIN = 1 / 40;

/** At rest: asks the host for updates at every interval, and says what it offers when that changed. Ends only with its signal. */
export async function watchOffers(session: Session, signal: AbortSignal): Promise<never> {
  const { clock, random, times } = session.ports;
  // Not in step with other nodes, neither at first nor later: a fleet shares one update repository.
  session.nextCheck ??= clock.monotonic() + FIRST_WITHIN * random() * times.checkIntervalMs;
  for (;;) {
    await clock.sleep(Math.max(0, session.nextCheck - clock.monotonic()), signal);
    const offered = await look(session, signal);
    session.nextCheck = clock.monotonic() + jitter(times.checkIntervalMs, 0.1, random);
    if (offered) await session.report((view) => offering(view, offered.version ?? view.version), signal);
  }
}

/** Undefined where the host could not say; it is asked again at the next interval. */
async function look(session: Session, signal: AbortSignal): Promise<{ version: string | undefined } | undefined> {
  const { host, logger } = session.ports;
  try {
    const { state, chosen } = await host.refresh(signal);
    // What could not be deactivated when its attempt ended must not be booted by chance either.
    if (state === 'Ready') await deactivate(session, signal);
    return { version: chosen?.version };
  } catch (error) {
    if (!(error instanceof HostError) || isDeadMount(error)) throw error;
    if (error instanceof UpdatesUnsupportedError) return noUpdates(session, error);
    logger.warn('the host could not look for updates', { error });
    return undefined;
  }
}

/** Said once: nothing that an agent does will change it before the next boot. */
function noUpdates(session: Session, error: UpdatesUnsupportedError): { version: undefined } {
  if (!session.unsupported) session.ports.logger.warn('this image has no updates in place', { error });
  session.unsupported = true;
  return { version: undefined };
}
