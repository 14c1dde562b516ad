import { rfc3339 } from '../../lib/clock.ts';
import type { RebootRecord } from '../../shadow/model.ts';
import { blaming, StepFailedError } from '../failure.ts';
import { UpdateGoneError } from '../host/errors.ts';
import type { HostStatus } from '../host/port.ts';
import { recording } from '../status.ts';
import type { StepContext } from './context.ts';
import { hasStaged, type Staging } from './stage.ts';

/** How long a host may fail to say what is staged. The node is in service meanwhile. */
const LOOKING_MS = 20 * 60_000;

interface RebootContext extends StepContext {
  readonly staging: Staging;
}

/**
 * Takes a node in service through its drain and its reboot into `version`. Activation comes after the drain, so that an unplanned reboot
 * while a drain hangs boots the old system. The drain is checked once more after the activation.
 * @throws StepFailedError when the attempt has failed, for example because the host does not go down
 */
export async function rebootInto(context: RebootContext, version: string, signal: AbortSignal): Promise<never> {
  const { apiserver, host, hostWork, logger } = context;
  await forgetOlderBoot(context, signal);
  const found = await ensureStaged(context, version, signal);
  await leaveLoadBalancers(context, signal);
  await apiserver.act('cordonAndDrain', signal);
  if (found === 'staged') await blaming('activate', () => activate(context, version, signal));
  await apiserver.act('cordonAndDrain', signal);
  await recordReboot(context, version, signal);
  // The last check before the reboot, which cannot be undone: the step may have been called off while the record was being written.
  signal.throwIfAborted();
  logger.info('rebooting', { version });
  await blaming('reboot', () => hostWork.reboot(signal));
  await hostWork.untilDown(signal);
  throw new StepFailedError(
    'RebootFailed',
    `the host accepted the reboot but did not go down for ${host.traits.limits.goingDownMs / 1000} seconds`,
  );
}

/** A record of another boot is left from another update. The apiserver would refuse the drain because of it. */
async function forgetOlderBoot(context: RebootContext, signal: AbortSignal): Promise<void> {
  const reboot = recorded(context);
  if (reboot?.requested_at == null || reboot.boot_id === context.view.value.bootId) return;
  await context.apiserver.report((view) => recording(view, null), signal);
}

/**
 * A reboot loses what was prepared. If nothing is staged any more, the host was booted without a request of ours, and the update continues
 * with the download. A cluster that keeps no records cannot tell one such boot from the next. So a probe must first be seen in the shadow.
 * Without it, a release that does not boot would be booted for ever.
 */
async function ensureStaged(context: RebootContext, version: string, signal: AbortSignal): Promise<Found> {
  const { host, hostWork, logger } = context;
  const status = await blaming('refresh', () =>
    hostWork.retrying({ withinMs: LOOKING_MS, signal }, () => host.status(signal)),
  );
  const found = known(context, status, version);
  if (found) return found;
  logger.warn('the update is not known to be staged: preparing it again', { version });
  // A boot loses whatever is staged. A host that has anything staged has not been booted, and so needs no probe.
  if (status?.state !== 'Staged' && status?.state !== 'Ready') await writeProbe(context, version, signal);
  await context.staging.stage(version, signal);
  return 'staged';
}

/** `activated`: to be left as it is, because the host cannot name it and may be going down. */
type Found = 'staged' | 'activated';

/** A host may not be able to name what it has activated. The record, then, was only written once that was this version. */
function known(context: RebootContext, status: HostStatus | undefined, version: string): Found | undefined {
  if (context.staging.isProven(status, version) || (hasStaged(status, version) && wasActivated(status)))
    return 'staged';
  const isNameless = status?.state === 'Ready' && !status.staging;
  return isNameless && isRecorded(context, version) ? 'activated' : undefined;
}

async function writeProbe(context: RebootContext, version: string, signal: AbortSignal): Promise<void> {
  const bootId = context.view.value.bootId;
  if (recorded(context)?.boot_id === bootId) return;
  await context.apiserver.report((view) => recording(view, { boot_id: bootId, version, requested_at: null }), signal);
  if (recorded(context)?.boot_id === bootId) return;
  throw new StepFailedError(
    'BootFailed',
    `the host came up without ${version}, and the cluster keeps no record of reboots`,
  );
}

/** While the node was drained somebody may have put another version into the partition: the wanted one replaces it. */
async function activate(context: RebootContext, version: string, signal: AbortSignal): Promise<void> {
  const { host, hostWork } = context;
  const once = (): Promise<unknown> =>
    hostWork.retrying({ withinMs: host.traits.limits.activateMs, signal }, () => host.activate(version, signal));
  try {
    await once();
  } catch (error) {
    context.staging.forget();
    if (!(error instanceof UpdateGoneError)) throw error;
    await context.staging.stage(version, signal);
    await once();
  }
}

async function leaveLoadBalancers(context: RebootContext, signal: AbortSignal): Promise<void> {
  const { apiserver, clock, times } = context;
  if (times.lbWaitMs === 0) return;
  await apiserver.act('excludeFromLb', signal);
  if (!(await hasWaited(context, signal))) await clock.sleep(times.lbWaitMs, signal);
}

/** A step that starts again on a drained node has waited before. Load balancers have no pod left to send to. */
async function hasWaited(context: RebootContext, signal: AbortSignal): Promise<boolean> {
  const { view, isDrained, logger } = context;
  if (view.value.shadow?.status?.drain == null) return false;
  try {
    return await isDrained(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.info('cannot see whether the node is drained', { error });
    return false;
  }
}

/** Without the record a rollback could not be told from an unplanned reboot. A cluster that drops it gets the reboot without a record. */
async function recordReboot(context: RebootContext, version: string, signal: AbortSignal): Promise<void> {
  const { apiserver, clock, logger } = context;
  if (isRecorded(context, version)) return;
  const reboot: RebootRecord = { boot_id: context.view.value.bootId, version, requested_at: rfc3339(clock.now()) };
  await apiserver.report((view) => recording(view, reboot), signal);
  if (!isRecorded(context, version)) logger.warn('the cluster keeps no record of the reboot', { version });
}

function isRecorded(context: RebootContext, version: string): boolean {
  const reboot = recorded(context);
  return reboot?.requested_at != null && reboot.boot_id === context.view.value.bootId && reboot.version === version;
}

function recorded({ view }: RebootContext): RebootRecord | null | undefined {
  return view.value.shadow?.status?.reboot;
}

/** An older agent has activated it, or this agent did before it was killed. The partition was checked before that. */
function wasActivated(status: HostStatus | undefined): boolean {
  const last = status?.lastCommand?.type;
  return status?.state === 'Ready' || last === 'activate' || last === 'deactivate';
}
