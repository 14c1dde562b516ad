import { aborted, childAbort, withDeadline } from '../../lib/abort.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { Step } from '../decide.ts';
import { StepFailedError } from '../failure.ts';
import type { HostStatus } from '../hosts/port.ts';
import { currentStatus, reachedStatus, idleStatus } from '../status.ts';
import type { StepContext } from './context.ts';
import { offerWatch } from './offer.ts';
import { rebootInto } from './reboot.ts';
import { forgetStaged, Staging } from './stage.ts';
import { unaskedBoots } from './unasked-boot.ts';
import { Wishes } from './wish.ts';

type StepHandler<S> = (step: S, signal: AbortSignal) => Promise<void>;
type StepHandlers = { readonly [K in Step['kind']]: StepHandler<Extract<Step, { readonly kind: K }>> };

/** For how long the version is kept back while the node is released. */
const RELEASE_MS = 5_000;
/** So long the node waits for its status to be taken before something is written over what that says is prepared. */
const FORGET_MS = 60_000;
/** Pause before the first look for what is not back, by how much each is longer than the one before, and the longest. Others wait for it. */
const SETTLE_MS = { first: 2_000, more: 1_000, longest: 5_000 };
/** Pause before the Node is read again. */
const IDENTIFY_PAUSE_MS = 30_000;

/**
 * The handlers of all steps, for one agent. A handler first looks at the host and the shadow, because an agent that was killed may have
 * begun the step before. It resolves when the step is done and seen in the shadow. It throws StepFailedError when the attempt has failed,
 * HostBusyError when the step has to start again, and the signal's reason.
 */
export function createSteps(context: StepContext): StepHandler<Step> {
  const { apiserver } = context;
  const wishes = new Wishes(context);
  const staging = new Staging(context, wishes);
  const watchOffers = offerWatch({ ...context, staging, wishes });
  const noteBoots = unaskedBoots(context);
  /** Whether this process has put the node back into service, and has not disturbed it since: nobody else disturbs it. */
  let isReleased = false;
  const handlers: StepHandlers = {
    wait: (_step, signal) => aborted(signal),
    create: (_step, signal) => apiserver.createShadow(signal),
    identify: (_step, signal) => identify(context, signal),
    introduce: (_step, signal) => introduce(context, signal),
    offer: async (step, signal) => {
      await noteBoots(signal);
      await watchOffers(step, signal);
    },
    rest: ({ succeeded }, signal) => rest(context, succeeded, signal),
    prepare: async ({ version }, signal) => {
      await staging.stage(version, signal);
      await apiserver.report((view) => reachedStatus(view, 'StagedAndPerformedUpdate'), signal);
    },
    reboot: ({ version }, signal) => {
      isReleased = false;
      return rebootInto({ ...context, staging }, version, signal);
    },
    bootFailed: async ({ version }, signal) => {
      throw new StepFailedError('BootFailed', await rollback(context, version, signal));
    },
    reached: async (step, signal) => {
      if (step.release && !isReleased) {
        await releaseAndTell(context, signal);
        isReleased = true;
      }
      await apiserver.report((view) => reachedStatus(view, step.state), signal);
    },
    settle: (_step, signal) => settle(context, signal),
  };
  return (step, signal) => (handlers[step.kind] as StepHandler<Step>)(step, signal);
}

async function identify({ apiserver, clock }: StepContext, signal: AbortSignal): Promise<void> {
  await apiserver.identify();
  await clock.sleep(IDENTIFY_PAUSE_MS, signal);
}

/** Ends with its step, once the shadow says that all is back or the controller goes on. */
async function settle({ apiserver, clock }: StepContext, signal: AbortSignal): Promise<void> {
  for (let pause = SETTLE_MS.first; ; pause = Math.min(pause + SETTLE_MS.more, SETTLE_MS.longest)) {
    await clock.sleep(pause, signal);
    await apiserver.tryTo('lookForDisplaced', signal);
  }
}

/** Sends the first status of a new shadow. A version that was activated under an earlier shadow is deactivated, so that no reboot boots it. */
async function introduce({ apiserver, hostWork }: StepContext, signal: AbortSignal): Promise<void> {
  await hostWork.tryToDeactivate(signal);
  await apiserver.report(currentStatus, signal);
}

/** Back to rest. After a completed update there is nothing to undo: the node went back into service before its monitoring. */
async function rest(context: StepContext, succeeded: boolean, signal: AbortSignal): Promise<void> {
  const { apiserver, clock, host, hostWork } = context;
  if (!succeeded) {
    const forget = (limited: AbortSignal): Promise<void> => forgetStaged(context, limited);
    if (host.isCutOff) await withDeadline({ clock, ms: FORGET_MS, signal }, forget).catch(() => undefined);
    await hostWork.tryToDeactivate(signal);
    await releaseNode(context, signal);
  }
  const time = rfc3339(clock.now());
  await apiserver.report((view) => idleStatus(view, succeeded, time), signal);
}

/** Mostly the node is back in service at once. What holds its release up may hold it up for long, and the version is no secret meanwhile. */
async function releaseAndTell(context: StepContext, signal: AbortSignal): Promise<void> {
  const { apiserver, clock } = context;
  const held = childAbort(signal);
  const telling = clock
    .sleep(RELEASE_MS, held.signal)
    .then(() => apiserver.tell(currentStatus, signal))
    .catch(() => undefined);
  await releaseNode(context, signal).finally(() => {
    held.abort(new Error('the node is in service'));
    held.release();
  });
  // Two statuses at once would be a conflict.
  await telling;
}

async function releaseNode({ apiserver, times }: StepContext, signal: AbortSignal): Promise<void> {
  // Our own apiserver does this with the uncordon; an older one has to be asked.
  if (times.lbWaitMs > 0) await apiserver.act('removeExclusionFromLb', signal);
  await apiserver.act('uncordon', signal);
}

/** The message for a boot that fell back to the old version. */
async function rollback(context: StepContext, version: string, signal: AbortSignal): Promise<string> {
  const { version: running } = context.view.value;
  const status = await partitions(context, signal);
  const described = [status?.active, status?.staging]
    .filter((partition) => partition !== undefined)
    .map(({ image, nextToBoot }) => `${image.version}${nextToBoot ? ' (next to boot)' : ''}`);
  const seen = described.length > 0 ? `; partitions: ${described.join(', ')}` : '';
  return `the host was rebooted into ${version} and came up with ${running}${seen}`;
}

/** The partitions. A host knows them only after its first refresh since the boot. If the refresh fails, the message goes without them. */
async function partitions({ host, logger }: StepContext, signal: AbortSignal): Promise<HostStatus | undefined> {
  try {
    return (await host.status(signal)) ?? (await host.refresh(signal));
  } catch (error) {
    if (signal.aborted) throw error;
    logger.info('the host does not tell its partitions', { error });
    return undefined;
  }
}
