import { jitter } from '../../lib/random.ts';
import { HostError, isDeadMount, UpdatesUnsupportedError } from '../host/errors.ts';
import { offering } from '../status.ts';
import type { StepContext } from './context.ts';

/** The first look falls into this part of the interval: 3 seconds of two minutes, a delay that nobody notices. */
const FIRST_WITHIN = 1 / 40;

/**
 * At rest: asks the host for updates at every interval, and reports what it offers when that has changed. The time of the next look
 * outlives the step, which often ends for another one.
 */
export function offerWatch(context: StepContext): (signal: AbortSignal) => Promise<never> {
  const { apiserver, clock, random, times, logger } = context;
  /** On the clock's monotonic scale; undefined before the first look. */
  let nextLook: number | undefined;
  let isUnsupported = false;

  /** Undefined where the host could not say. */
  const look = async (signal: AbortSignal): Promise<{ version: string | undefined } | undefined> => {
    try {
      return { version: await offered(context, signal) };
    } catch (error) {
      if (!(error instanceof HostError) || isDeadMount(error)) throw error;
      if (!(error instanceof UpdatesUnsupportedError)) {
        logger.warn('the host could not look for updates', { error });
        return undefined;
      }
      // Logged once: this cannot change before the next boot.
      if (!isUnsupported) logger.warn('this image has no updates in place', { error });
      isUnsupported = true;
      return { version: undefined };
    }
  };

  return async (signal) => {
    // Nodes must not all look at the same moment, neither at first nor later: a fleet shares one update repository.
    nextLook ??= clock.monotonic() + FIRST_WITHIN * random() * times.checkIntervalMs;
    for (;;) {
      await clock.sleep(Math.max(0, nextLook - clock.monotonic()), signal);
      const seen = await look(signal);
      nextLook = clock.monotonic() + jitter(times.checkIntervalMs, 0.1, random);
      if (seen) await apiserver.report((view) => offering(view, seen.version ?? view.version), signal);
    }
  };
}

async function offered({ hostWork, offers }: StepContext, signal: AbortSignal): Promise<string | undefined> {
  const { state, chosen } = await offers.refresh(signal);
  // The host could not be deactivated when its attempt ended. What is activated must not be booted by chance.
  if (state === 'Ready' || hostWork.owesDeactivation) await hostWork.tryToDeactivate(signal);
  return chosen?.version;
}
