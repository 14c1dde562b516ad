import { failStepAs, StepFailedError } from '../failure.ts';
import { UpdateGoneError } from '../hosts/errors.ts';
import type { HostStatus } from '../hosts/port.ts';
import { withOffer } from '../status.ts';
import type { OwnNode, StepContext } from './context.ts';
import { forgetOlderBoot, isRecorded, isRequested, probe, recordRequest } from './record.ts';
import { hasStaged, type Staging, targetChanged } from './stage.ts';

/** How long a host may fail to say what is staged. The node is in service meanwhile. */
const LOOKING_MS = 20 * 60_000;
/** For how long a node that was seen drained counts as drained, until the request to reboot is on record. */
const DRAINED_MS = 10_000;

interface RebootContext extends StepContext {
  readonly staging: Staging;
}

/**
 * Takes a node in service through its drain and its reboot into `version`. Activation comes after the drain, so that an unplanned reboot
 * while a drain hangs boots the old system. Where the activation took long, the drain is checked once more after it.
 * @throws StepFailedError when the attempt has failed, for example because the host does not go down
 */
export async function rebootInto(context: RebootContext, version: string, signal: AbortSignal): Promise<never> {
  const { host, hostWork, logger } = context;
  await forgetOlderBoot(context, signal);
  const found = await ensureStaged(context, version, signal);
  await expectOffered(context, version, signal);
  await leaveLoadBalancers(context, signal);
  const isProbed = isRecorded(context, version);
  const drainedAt = await drain(context, signal);
  if (found === 'staged') await failStepAs('activate', () => activate(context, version, signal));
  await drainLast(context, { version, drainedAt: isProbed ? drainedAt : -Infinity }, signal);
  // The last check before the reboot, which cannot be undone: the step may have been called off while the record was being written.
  signal.throwIfAborted();
  logger.info('rebooting', { version });
  await failStepAs('reboot', () => hostWork.reboot(signal));
  await hostWork.untilDown(signal);
  throw new StepFailedError(
    'RebootFailed',
    `the host accepted the reboot but did not go down for ${host.traits.limits.goingDownMs / 1000} seconds`,
  );
}

/**
 * A reboot loses what was prepared. If nothing is staged any more, the host was booted without a request of ours, and the update continues
 * with the download. A cluster that keeps no records cannot tell one such boot from the next. So a probe must first be seen in the shadow.
 * Without it, a release that does not boot would be booted for ever.
 */
async function ensureStaged(context: RebootContext, version: string, signal: AbortSignal): Promise<Found> {
  const { host, hostWork, logger } = context;
  const status = await failStepAs('refresh', () =>
    hostWork.retrying({ withinMs: LOOKING_MS, signal }, () => host.status(signal)),
  );
  const found = known(context, status, version);
  if (found) return found;
  if (hasStaged(status, version) && (await wasDisturbed(context, signal))) return 'staged';
  logger.warn('the update is not known to be staged: preparing it again', { version });
  // A boot loses whatever is staged. A host that has anything staged has not been booted, and so needs no probe.
  if (status?.state !== 'Staged' && status?.state !== 'Ready') await expectProbe(context, version, signal);
  await context.staging.stage(version, signal);
  return 'staged';
}

/** `activated`: to be left as it is, because the host cannot name it and may be going down. */
type Found = 'staged' | 'activated';

/** Some hosts do not name what they have activated. Our record then does: it is written only once this version is activated. */
function known(context: RebootContext, status: HostStatus | undefined, version: string): Found | undefined {
  if (context.staging.isProven(status, version) || (hasStaged(status, version) && wasActivated(status)))
    return 'staged';
  const isNameless = status?.state === 'Ready' && !status.staging;
  return isNameless && isRequested(context, version) ? 'activated' : undefined;
}

async function expectProbe(context: RebootContext, version: string, signal: AbortSignal): Promise<void> {
  if (await probe(context, version, signal)) return;
  throw new StepFailedError(
    'BootFailed',
    `the host came up without ${version}, and the cluster keeps no record of reboots`,
  );
}

/**
 * The host is asked once more before its node is disturbed. So an outage of its repository, which the activation needs as well, is waited for in
 * service, and a version that it does not offer any more disturbs nobody.
 */
async function expectOffered(context: RebootContext, version: string, signal: AbortSignal): Promise<void> {
  const { apiserver, host, hostWork, offers } = context;
  if (host.traits.versions === 'told' || offers.isFresh(version) || isRequested(context, version)) return;
  if ((await seenNode(context, signal))?.isMarked) return;
  const { chosen } = await failStepAs('refresh', () =>
    hostWork.retrying({ withinMs: LOOKING_MS, signal }, () => offers.refresh(signal)),
  );
  if (chosen?.version === version) return;
  await apiserver.report((view) => withOffer(view, chosen?.version ?? view.version), signal);
  throw targetChanged(version, chosen?.version);
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

/** An agent has disturbed the node in this boot, before it was killed. It had checked the partition, and the last look has hidden that since. */
async function wasDisturbed(context: RebootContext, signal: AbortSignal): Promise<boolean> {
  return (await seenNode(context, signal))?.markedIn === context.view.value.bootId;
}

async function leaveLoadBalancers(context: RebootContext, signal: AbortSignal): Promise<void> {
  const { apiserver, clock, times, view } = context;
  if (times.lbWaitMs === 0) return;
  await apiserver.act('excludeFromLb', signal);
  // A step that starts again on a drained node has waited before. Load balancers have no pod left to send to.
  const hasWaited = view.value.shadow?.status?.drain != null && (await seenNode(context, signal))?.isDrained;
  if (!hasWaited) await clock.sleep(times.lbWaitMs, signal);
}

/** Undefined also where it cannot be read. */
async function seenNode({ readNode, logger }: RebootContext, signal: AbortSignal): Promise<OwnNode | undefined> {
  try {
    return await readNode(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.info('cannot see what the node is in', { error });
    return undefined;
  }
}

/** @returns when the node was seen drained, by the monotonic clock */
async function drain({ apiserver, clock }: RebootContext, signal: AbortSignal): Promise<number> {
  await apiserver.act('cordonAndDrain', signal);
  return clock.monotonic();
}

interface Drained {
  readonly version: string;
  /** When the node was seen drained after the probe was. */
  readonly drainedAt: number;
}

/**
 * Ends with the record of the request, soon after a drain: nothing is known of a node that was drained a while ago. A cluster that keeps no
 * records gets the reboot without one.
 */
async function drainLast(context: RebootContext, { version, drainedAt }: Drained, signal: AbortSignal): Promise<void> {
  const { clock, logger } = context;
  const isOld = (at: number): boolean => clock.monotonic() - at > DRAINED_MS;
  let isKept = await probe(context, version, signal);
  if (!isKept) logger.warn('the cluster keeps no record of the reboot', { version });
  for (let at = drainedAt; ; at = -Infinity) {
    if (isOld(at)) at = await drain(context, signal);
    isKept &&= await recordRequest(context, version, signal);
    if (!isOld(at)) return;
  }
}

/** An older agent has activated it, or this agent did before it was killed. The partition was checked before that. */
function wasActivated(status: HostStatus | undefined): boolean {
  const last = status?.lastCommand?.type;
  return status?.state === 'Ready' || last === 'activate' || last === 'deactivate';
}
