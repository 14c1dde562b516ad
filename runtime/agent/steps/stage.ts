import type { HostStatus } from '../host/port.ts';
import {
  HostActionFailedError,
  HostActionLostError,
  HostRefusedError,
  OfferChangedError,
  UpdateGoneError,
} from '../host/errors.ts';
import { jitter } from '../../lib/random.ts';
import { blaming, StepFailedError } from '../failure.ts';
import type { Session } from '../session.ts';
import { offering } from '../status.ts';

/** How long the controller has to follow a host that offers another version now. */
const FOLLOW_MS = 120_000;
/** How long a host may fail to look for updates before the attempt fails. */
const REFRESH_MS = 20 * 60_000;
const REFRESH_PAUSE_MS = 5_000;

/** Whether `version` is in the inactive slot, to be activated or already so. */
export function isStaged(status: HostStatus | undefined, version: string): boolean {
  return (status?.state === 'Staged' || status?.state === 'Ready') && status.staging?.image.version === version;
}

export interface Staging {
  readonly version: string;
  /** Download it even where it is in the slot: it could not be activated from there. */
  readonly afresh: boolean;
}

/**
 * Brings `version` into the inactive slot, and no other one. A host that is activated is deactivated first: it could not be prepared,
 * and an unplanned reboot would boot what is there.
 * @throws StepFailedError
 */
export function stage(session: Session, { version, afresh }: Staging, signal: AbortSignal): Promise<void> {
  const { host } = session.ports;
  return blaming('PrepareFailed', async () => {
    const before = await host.deactivate(signal);
    if (!afresh && isStaged(before, version)) return;
    if (!offers(before, version)) await awaitOffer(session, version, signal);
    try {
      await host.prepare(version, signal);
    } catch (error) {
      if (!isOfferVoid(error)) throw error;
      // What the host offers changed since it was last asked.
      await awaitOffer(session, version, signal);
      await host.prepare(version, signal);
    }
  });
}

/** A choice that is left over from before a look for updates that failed is none: the host refuses to prepare it. */
function offers(status: HostStatus | undefined, version: string): boolean {
  return (status?.state === 'Available' || status?.state === 'Staged') && status.chosen?.version === version;
}

function isOfferVoid(error: unknown): boolean {
  return error instanceof OfferChangedError || error instanceof UpdateGoneError || error instanceof HostRefusedError;
}

/** Looks whether the host offers `version`. Where it does not, that is said, and the controller has a while to want something else. */
async function awaitOffer(session: Session, version: string, signal: AbortSignal): Promise<void> {
  const { clock, logger } = session.ports;
  const offered = await refreshed(session, signal);
  if (offered === version) return;
  logger.warn('the host does not offer the wanted version', { wanted: version, offered });
  await session.report((view) => offering(view, offered ?? view.version), signal);
  await clock.sleep(FOLLOW_MS, signal);
  const later = await refreshed(session, signal);
  if (later === version) return;
  throw new StepFailedError('TargetChanged', `${version} is wanted, but the host offers ${later ?? 'no update'}`);
}

/** The version that the host offers now. A repository that cannot be reached for a while fails no update. */
async function refreshed(session: Session, signal: AbortSignal): Promise<string | undefined> {
  const { host, clock, random, logger } = session.ports;
  const deadline = clock.monotonic() + REFRESH_MS;
  for (;;) {
    try {
      return (await host.refresh(signal)).chosen?.version;
    } catch (error) {
      const transient = error instanceof HostActionFailedError || error instanceof HostActionLostError;
      if (!transient || clock.monotonic() > deadline) throw error;
      logger.info('the host could not look for updates', { error });
      await clock.sleep(jitter(REFRESH_PAUSE_MS, 0.2, random), signal);
    }
  }
}
