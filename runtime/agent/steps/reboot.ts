import { rfc3339 } from '../../lib/clock.ts';
import type { RebootRecord } from '../../shadow/model.ts';
import { blaming, StepFailedError } from '../failure.ts';
import { UpdateGoneError } from '../host/errors.ts';
import type { HostStatus } from '../host/port.ts';
import type { Session } from '../session.ts';
import { recording } from '../status.ts';
import { persevere, persevering } from './persevere.ts';
import { isProven, isStaged, stage } from './stage.ts';

/** An inhibitor may hold a reboot back for 300 seconds; the rest is the shutdown itself. */
const GOING_DOWN_MS = 360_000;
/** How long a host may fail to activate before the attempt fails. The node is drained meanwhile. */
const ACTIVATION_MS = 60_000;
/** How long it may fail to say what is staged, while the node is in service. */
const LOOKING_MS = 20 * 60_000;

/**
 * From a node in service to its reboot into `version`. Activation comes after the drain, so that an unplanned reboot while a drain
 * hangs boots the old system, and the drain is looked at once more after it.
 * @throws StepFailedError when the attempt has failed, which includes a host that does not go down
 */
export async function rebootInto(session: Session, version: string, signal: AbortSignal): Promise<never> {
  const { host, clock, logger } = session.ports;
  await forgetOlderBoot(session, signal);
  await ensureStaged(session, version, signal);
  await leaveLoadBalancers(session, signal);
  await session.act('cordonAndDrain', signal);
  await blaming('ActivateFailed', () => activate(session, version, signal));
  await session.act('cordonAndDrain', signal);
  await record(session, version, signal);
  // The last look before what cannot be undone: the step may have been called off while the record was on its way.
  signal.throwIfAborted();
  logger.info('rebooting', { version });
  await blaming('RebootFailed', () => host.reboot(signal));
  await clock.sleep(GOING_DOWN_MS, signal);
  throw new StepFailedError(
    'RebootFailed',
    `the host accepted the reboot but did not go down for ${GOING_DOWN_MS / 1000} seconds`,
  );
}

/** A record of another boot is left from another update; the drain would be refused for its sake. */
async function forgetOlderBoot(session: Session, signal: AbortSignal): Promise<void> {
  const { shadow, bootId } = session.view;
  const reboot = shadow?.status?.reboot;
  if (reboot?.requested_at == null || reboot.boot_id === bootId) return;
  await session.report((view) => recording(view, null), signal);
}

/**
 * What was prepared is forgotten by a reboot: where it is no longer staged, this is a boot that nobody asked for, and the update goes on
 * at the download. A cluster that keeps no records could not tell the next one from it, so a probe has to come back first, or a release
 * that does not boot would be booted for ever.
 */
async function ensureStaged(session: Session, version: string, signal: AbortSignal): Promise<void> {
  const { host, logger } = session.ports;
  const status = await blaming('HostFailed', () =>
    persevere(persevering(session, LOOKING_MS, signal), () => host.status(signal)),
  );
  if (isProven(session, status, version) || (isStaged(status, version) && wasActivated(status))) return;
  logger.warn('the update is not known to be staged: preparing it again', { version });
  // A host that calls anything staged has not booted since.
  if (status?.state !== 'Staged' && status?.state !== 'Ready') await probe(session, version, signal);
  await stage(session, version, signal);
}

/** By an older agent, or by this one before it was killed: that is what is wanted here, and the slot was judged before. */
function wasActivated(status: HostStatus | undefined): boolean {
  const last = status?.lastCommand?.type;
  return status?.state === 'Ready' || last === 'activate' || last === 'deactivate';
}

async function probe(session: Session, version: string, signal: AbortSignal): Promise<void> {
  if (session.view.shadow?.status?.reboot?.boot_id === session.view.bootId) return;
  const { bootId } = session.view;
  await session.report((view) => recording(view, { boot_id: bootId, version, requested_at: null }), signal);
  if (session.view.shadow?.status?.reboot?.boot_id === bootId) return;
  throw new StepFailedError(
    'BootFailed',
    `the host came up without ${version}, and the cluster keeps no record of reboots`,
  );
}

/** What somebody else has put into the slot while the node was drained is replaced by what is wanted. */
async function activate(session: Session, version: string, signal: AbortSignal): Promise<void> {
  const { host } = session.ports;
  const once = async (): Promise<unknown> => {
    const persistent = persevering(session, ACTIVATION_MS, signal);
    return persevere(persistent, () => host.activate(version, signal));
  };
  try {
    await once();
  } catch (error) {
    session.prepared = undefined;
    if (!(error instanceof UpdateGoneError)) throw error;
    await stage(session, version, signal);
    await once();
  }
}

async function leaveLoadBalancers(session: Session, signal: AbortSignal): Promise<void> {
  const { clock, times } = session.ports;
  if (times.lbWaitMs === 0) return;
  await session.act('excludeFromLb', signal);
  if (!(await isDrained(session, signal))) await clock.sleep(times.lbWaitMs, signal);
}

/** A step that begins anew on a drained node has waited before: nothing is left there that load balancers could send to. */
async function isDrained({ view, ports }: Session, signal: AbortSignal): Promise<boolean> {
  if (view.shadow?.status?.drain == null) return false;
  try {
    return await ports.isDrained(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    ports.logger.info('cannot see whether the node is drained', { error });
    return false;
  }
}

/** Without the record a rollback could not be told from an unplanned reboot; a cluster that drops it gets the reboot without. */
async function record(session: Session, version: string, signal: AbortSignal): Promise<void> {
  const { clock, logger } = session.ports;
  const { bootId } = session.view;
  if (isRecord(session, version)) return;
  const reboot: RebootRecord = { boot_id: bootId, version, requested_at: rfc3339(clock.now()) };
  await session.report((view) => recording(view, reboot), signal);
  if (!isRecord(session, version)) logger.warn('the cluster keeps no record of the reboot', { version });
}

function isRecord({ view }: Session, version: string): boolean {
  const reboot = view.shadow?.status?.reboot;
  return reboot?.requested_at != null && reboot.boot_id === view.bootId && reboot.version === version;
}
