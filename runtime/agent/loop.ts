import { childAbort } from '../lib/abort.ts';
import { rfc3339 } from '../lib/clock.ts';
import { backoff } from '../lib/retry.ts';
import { decide, sameStep, type Step } from './decide.ts';
import { isDeadMount, StepFailedError } from './failure.ts';
import { HostError } from './host/errors.ts';
import type { Session } from './session.ts';
import { failing, present } from './status.ts';
import { deactivate } from './steps/deactivate.ts';
import { execute } from './steps/execute.ts';

/** What is wanted changed: the step that runs has lost its reason. */
class SupersededError extends Error {
  override readonly name = 'SupersededError';
}

/** Decides and acts until the signal aborts. */
export async function work(session: Session, signal: AbortSignal): Promise<never> {
  const { clock, random } = session.ports;
  let attempt = 0;
  for (;;) {
    signal.throwIfAborted();
    const ended = await whileWanted(session, decide(session.view), signal);
    attempt = ended === 'again' ? attempt + 1 : 0;
    if (ended === 'done') session.busySince = undefined;
    if (ended === 'again') await clock.sleep(backoff(attempt, { firstMs: 500, maxMs: 10_000, random }), signal);
  }
}

/** Does `step` until it is done, or until the view leads to another one: that is looked at with each change, and acted on at once. */
async function whileWanted(session: Session, step: Step, signal: AbortSignal): Promise<'done' | 'again'> {
  const { view, logger } = session.ports;
  const life = childAbort(signal);
  const stop = view.onChange(() => {
    if (!sameStep(decide(view.value), step)) life.abort(new SupersededError('another step is wanted'));
  });
  logger[step.kind === 'wait' ? 'debug' : 'info']('step begins', { ...step, step: step.kind });
  try {
    await attemptOnce(session, step, life.signal);
    return 'done';
  } catch (error) {
    if (signal.aborted) throw error;
    if (life.signal.aborted) return 'done';
    // A busy host, above all: never a failure of the update, and not one of the agent.
    if (!(error instanceof HostError) || isDeadMount(error)) throw error;
    logger.info('the step is tried again', { step: step.kind, error });
    return 'again';
  } finally {
    stop();
    life.release();
  }
}

async function attemptOnce(session: Session, step: Step, signal: AbortSignal): Promise<void> {
  try {
    await execute(session, step, signal);
  } catch (error) {
    if (!(error instanceof StepFailedError) || !('version' in step)) throw error;
    await giveUp(session, { error, version: step.version }, signal);
  }
}

/** One report for one failed attempt. What is on the node stays until the controller has answered with Idle. */
async function giveUp(
  session: Session,
  { error, version }: { readonly error: StepFailedError; readonly version: string },
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger } = session.ports;
  const state = session.view.shadow?.spec.state ?? 'Idle';
  const failure = { state, reason: error.reason, message: error.message, version };
  logger.warn('the attempt has failed', { version, state, reason: error.reason, error: error.message });
  const time = rfc3339(clock.now());
  // Once the host is deactivated, an unplanned reboot boots the old version, which a record would make a rollback.
  if (error.reason !== 'BootFailed') await session.report((view) => ({ ...present(view), reboot: null }), signal);
  await deactivate(session, signal);
  await session.report((view) => failing(view, failure, time), signal);
}
