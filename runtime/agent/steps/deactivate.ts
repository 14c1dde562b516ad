import { isDeadMount } from '../failure.ts';
import { HostError } from '../host/errors.ts';
import type { Session } from '../session.ts';

/** An update that was given up must not be booted by chance. A host that cannot is left as it is: the node has to go back into service. */
export async function deactivate(session: Session, signal: AbortSignal): Promise<void> {
  const { host, logger } = session.ports;
  try {
    await host.deactivate(signal);
  } catch (error) {
    if (!(error instanceof HostError) || isDeadMount(error)) throw error;
    logger.warn('the host could not be deactivated', { error });
  }
}
