import { childAbort } from '../lib/abort.ts';
import { rfc3339 } from '../lib/clock.ts';
import { retry } from '../lib/retry.ts';
import { decide, sameStep, type Step } from './decide.ts';
import { StepFailedError } from './failure.ts';
import { HostError, isDeadMount } from './hosts/errors.ts';
import { failedStatus, nothingStaged } from './status.ts';
import type { StepContext } from './steps/context.ts';
import { createSteps } from './steps/steps.ts';

/** Another step is wanted now. */
class SupersededError extends Error {
  override readonly name = 'SupersededError';
}

/** Pause before a step starts again, milliseconds. */
const PAUSES = { firstMs: 500, maxMs: 10_000 };

/** Decides and acts until the signal aborts. */
export async function runSteps(context: StepContext, signal: AbortSignal): Promise<never> {
  const execute = createSteps(context);
  for (;;) {
    signal.throwIfAborted();
    const step = decide(context.view.value);
    await whileWanted({ context, step, signal }, (life) => execute(step, life));
    context.hostWork.stepEnded();
    // A node that is about to go down is not at rest, whatever its shadow says by now: its marks and its permit are to stay until it is back.
    await context.hostWork.untilDown(signal);
  }
}

interface Wanted {
  readonly context: StepContext;
  readonly step: Step;
  readonly signal: AbortSignal;
}

/** Does the step until it is done, or until a change of the view makes another step the wanted one. */
async function whileWanted(wanted: Wanted, execute: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { context, step, signal } = wanted;
  const { view, logger } = context;
  const life = childAbort(signal);
  const stop = view.onChange(() => {
    if (!sameStep(decide(view.value), step)) life.abort(new SupersededError('another step is wanted'));
  });
  logger[step.kind === 'wait' ? 'debug' : 'info']('step begins', { ...step, step: step.kind });
  try {
    await retry(() => orGiveUp({ ...wanted, signal: life.signal }, execute), {
      ...context,
      ...PAUSES,
      signal: life.signal,
      // The host is busy, above all. That is no failure of the update.
      isTransient: (error) => error instanceof HostError && !isDeadMount(error),
      onRetry: (error) => logger.info('the step is tried again', { step: step.kind, error }),
    });
  } catch (error) {
    if (signal.aborted || !life.signal.aborted) throw error;
  } finally {
    stop();
    life.release();
  }
}

/** Reports a failed attempt once. What was done to the node stays until the controller has answered with Idle. */
async function orGiveUp(wanted: Wanted, execute: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { step, signal } = wanted;
  try {
    await execute(signal);
  } catch (error) {
    if (!(error instanceof StepFailedError) || !('version' in step)) throw error;
    await giveUp(wanted, step.version, error);
  }
}

async function giveUp({ context, signal }: Wanted, version: string, error: StepFailedError): Promise<void> {
  const { apiserver, clock, hostWork, logger, view } = context;
  const state = view.value.shadow?.spec.state ?? 'Idle';
  logger.warn('the attempt has failed', { version, state, reason: error.reason, error: error.message });
  const time = rfc3339(clock.now());
  // Once the host is deactivated, an unplanned reboot boots the old version. With the record it would be taken for a rollback.
  if (error.reason !== 'BootFailed') await apiserver.report((now) => ({ ...nothingStaged(now), reboot: null }), signal);
  const undone = await hostWork.tryToDeactivate(signal);
  // Nothing is activated before the step that reboots. This comes first, because a long message loses its end.
  const warning = undone && state === 'RebootedIntoUpdate' ? `${version} may still be booted: ${undone.message}; ` : '';
  const message = `${warning}${error.message}`;
  const failure = { state, reason: error.reason, message, version };
  await apiserver.report((now) => failedStatus(now, failure, time), signal);
}
