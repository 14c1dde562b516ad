import { HostRefusedError, OfferChangedError, OtherImageError, UpdateGoneError } from '../host/errors.ts';
import type { HostStatus } from '../host/port.ts';
import { hasResult } from '../host/result.ts';
import { blaming, StepFailedError } from '../failure.ts';
import type { Session } from '../session.ts';
import { offering } from '../status.ts';
import { type Perseverance, persevere, persevering } from './persevere.ts';

/** How long the controller has to follow a host that offers another version now. */
const FOLLOW_MS = 120_000;
/** How long a host may fail at its part of the step before the attempt fails. */
const STAGING_MS = 20 * 60_000;

/** Whether `version` is in the inactive slot, to be activated or already so. */
export function isStaged(status: HostStatus | undefined, version: string): boolean {
  return (status?.state === 'Staged' || status?.state === 'Ready') && status.staging?.image.version === version;
}

/**
 * Whether it is known that `version` is in the slot: this agent has seen it written, or the host's last command was what wrote it. A status
 * that has outlived the words of its download may name what was never there.
 */
export function isProven(session: Session, status: HostStatus | undefined, version: string): boolean {
  if (!isStaged(status, version)) return false;
  return session.prepared === version || status?.lastCommand?.type === 'prepare';
}

/**
 * Brings `version` into the inactive slot, and no other one. A host that is activated is deactivated first: it could not be prepared,
 * and an unplanned reboot would boot what is there.
 * @throws StepFailedError
 */
export function stage(session: Session, version: string, signal: AbortSignal): Promise<void> {
  const { host } = session.ports;
  const persistent = persevering(session, STAGING_MS, signal);
  return blaming('PrepareFailed', async () => {
    const before = await persevere(persistent, () => host.deactivate(signal));
    if (isProven(session, before, version)) return believe(session, before, version);
    session.prepared = undefined;
    const offered = offers(before, version) ? before : await awaitOffer(persistent, version);
    try {
      await download(persistent, version, offered);
    } catch (error) {
      if (!isOfferVoid(error) && !(error instanceof OtherImageError)) throw error;
      // What the host offers changed since it was last asked.
      await downloadElse(persistent, version);
    }
  });
}

/** Words that nobody here understands, as those of another release of the host, leave the status as the judge. */
function believe(session: Session, status: HostStatus | undefined, version: string): void {
  const { chose, type, stderr } = status?.lastCommand ?? {};
  if (type === 'prepare' && chose === undefined)
    session.ports.logger.warn('the host does not say what it has prepared: its status is believed', {
      version,
      stderr,
    });
  session.prepared = version;
}

/** A choice that is left over from before a look for updates that failed is none: the host refuses to prepare it. */
function offers(status: HostStatus | undefined, version: string): boolean {
  return (status?.state === 'Available' || status?.state === 'Staged') && status.chosen?.version === version;
}

function isOfferVoid(error: unknown): boolean {
  return error instanceof OfferChangedError || error instanceof UpdateGoneError || error instanceof HostRefusedError;
}

/** @param before the host's status when it was last looked at */
async function download(persistent: Perseverance, version: string, before: HostStatus | undefined): Promise<void> {
  const { session, signal } = persistent;
  const { host } = session.ports;
  await persevere(persistent, async (failures) => {
    // A download whose end could not be seen may have come to a good one.
    const now = failures > 0 ? await host.status(signal) : undefined;
    const after = hasDownloaded(before, now, version) ? now : await host.prepare(version, signal);
    believe(session, after, version);
  });
}

function hasDownloaded(before: HostStatus | undefined, after: HostStatus | undefined, version: string): boolean {
  return isStaged(after, version) && hasResult('prepare', before, after);
}

/** Once more; an offer that is void again is one that changed, and the controller has a while to want something else. */
async function downloadElse(persistent: Perseverance, version: string): Promise<void> {
  const { session, signal } = persistent;
  const offered = await awaitOffer(persistent, version);
  try {
    await download(persistent, version, offered);
  } catch (error) {
    if (isOfferVoid(error)) await session.ports.clock.sleep(FOLLOW_MS, signal);
    throw error;
  }
}

/** Looks whether the host offers `version`. Where it does not, that is said, and the controller has a while to want something else. */
async function awaitOffer(persistent: Perseverance, version: string): Promise<HostStatus> {
  const { session, signal } = persistent;
  const { host, clock, logger } = session.ports;
  // A repository that cannot be reached for a while fails no update.
  const refresh = (): Promise<HostStatus> => persevere(persistent, () => host.refresh(signal));
  const first = await refresh();
  if (first.chosen?.version === version) return first;
  const offered = first.chosen?.version;
  logger.warn('the host does not offer the wanted version', { wanted: version, offered });
  await session.report((view) => offering(view, offered ?? view.version), signal);
  await clock.sleep(FOLLOW_MS, signal);
  const later = await refresh();
  if (later.chosen?.version === version) return later;
  const now = later.chosen?.version ?? 'no update';
  throw new StepFailedError('TargetChanged', `${version} is wanted, but the host offers ${now}`);
}
