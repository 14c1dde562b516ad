import { aborted } from '../../lib/abort.ts';
import type { Step } from '../decide.ts';
import { StepFailedError } from '../failure.ts';
import type { HostStatus } from '../host/port.ts';
import type { Session } from '../session.ts';
import { present, reaching, resting } from '../status.ts';
import { deactivate } from './deactivate.ts';
import { watchOffers } from './offer.ts';
import { rebootInto } from './reboot.ts';
import { stage } from './stage.ts';

type Executor<S> = (session: Session, step: S, signal: AbortSignal) => Promise<void>;
type Executors = { readonly [K in Step['kind']]: Executor<Extract<Step, { readonly kind: K }>> };

const EXECUTORS: Executors = {
  wait: (_session, _step, signal) => aborted(signal),
  create: (session, _step, signal) => session.createShadow(signal),
  identify: (session, _step, signal) => identify(session, signal),
  introduce: (session, _step, signal) => introduce(session, signal),
  offer: (session, _step, signal) => watchOffers(session, signal),
  settle: (session, step, signal) => settle(session, step.succeeded, signal),
  prepare: (session, step, signal) => prepare(session, step.version, signal),
  reboot: (session, step, signal) => rebootInto(session, step.version, signal),
  bootFailed: async (session, step, signal) => {
    throw new StepFailedError('BootFailed', await rollback(session, step.version, signal));
  },
  reached: async (session, step, signal) => {
    if (step.release) await release(session, signal);
    await session.report((view) => reaching(view, step.state), signal);
  },
};

/**
 * Does one step, beginning with a look at the world: it may have been begun before. Resolves when it is done and seen in the shadow.
 * @throws StepFailedError when the attempt has failed; HostBusyError when it is to be tried again; the signal's reason
 */
export function execute(session: Session, step: Step, signal: AbortSignal): Promise<void> {
  return (EXECUTORS[step.kind] as Executor<Step>)(session, step, signal);
}

/** Until the node's UID, or the shadow, is another one. */
const IDENTIFY_PAUSE_MS = 30_000;

async function identify(session: Session, signal: AbortSignal): Promise<void> {
  await session.ports.identify(signal);
  await session.ports.clock.sleep(IDENTIFY_PAUSE_MS, signal);
}

/** A shadow that was made anew knows of no update: what was activated for the one before it must not be booted by chance. */
async function introduce(session: Session, signal: AbortSignal): Promise<void> {
  await deactivate(session, signal);
  await session.report(present, signal);
}

async function prepare(session: Session, version: string, signal: AbortSignal): Promise<void> {
  await stage(session, version, signal);
  await session.report((view) => reaching(view, 'StagedAndPerformedUpdate'), signal);
}

/** Back to rest. After a completed update there is nothing to undo: the node went back into service before its monitoring. */
async function settle(session: Session, succeeded: boolean, signal: AbortSignal): Promise<void> {
  if (!succeeded) {
    await deactivate(session, signal);
    await release(session, signal);
  }
  await session.report((view) => resting(view, succeeded), signal);
}

async function release(session: Session, signal: AbortSignal): Promise<void> {
  // Our own apiserver does this with the uncordon; the older one has to be asked.
  if (session.ports.times.lbWaitMs > 0) await session.act('removeExclusionFromLb', signal);
  await session.act('uncordon', signal);
}

/** What is known of a boot that fell back, for a person. */
async function rollback(session: Session, version: string, signal: AbortSignal): Promise<string> {
  const { version: running } = session.view;
  const status = await partitions(session, signal);
  const slots = [status?.active, status?.staging]
    .filter((slot) => slot !== undefined)
    .map((slot) => `${slot.image.version}${slot.nextToBoot ? ' (next to boot)' : ''}`);
  const seen = slots.length > 0 ? `; partitions: ${slots.join(', ')}` : '';
  return `the host was rebooted into ${version} and came up with ${running}${seen}`;
}

/** A host that has just booted knows of its partitions only after a look for updates. Where that fails, the failure is told without them. */
async function partitions({ ports }: Session, signal: AbortSignal): Promise<HostStatus | undefined> {
  const { host, logger } = ports;
  try {
    return (await host.status(signal)) ?? (await host.refresh(signal));
  } catch (error) {
    if (signal.aborted) throw error;
    logger.info('the host does not tell its partitions', { error });
    return undefined;
  }
}
