import { rfc3339 } from '../../lib/clock.ts';
import { retry } from '../../lib/retry.ts';
import type { AgentStatus } from '../../api/shadow/model.ts';
import type { View } from '../decide.ts';
import { currentStatus, withFailure } from '../status.ts';
import { type Terms, unaskedBoot } from '../unasked-boot.ts';
import type { StepContext } from './context.ts';

/** Pause before the Node is read again. */
const PAUSES = { firstMs: 500, maxMs: 30_000 };

/**
 * Of a node at rest: notes a boot that nobody has asked for, and reports what it says of the release that was finished before. It is done once
 * for each start of the agent: a cluster may drop it.
 */
export function unaskedBoots(context: StepContext): (signal: AbortSignal) => Promise<void> {
  const { apiserver, clock, logger, readNode, view } = context;
  let isDone = false;
  return async (signal) => {
    if (isDone) return;
    if (unaskedBoot(view.value, { isHeld: false, now: clock.now() })) {
      const policy = { ...context, ...PAUSES, signal, isTransient: () => true };
      const node = await retry(() => readNode(signal), policy);
      const terms = { isHeld: node?.isHeld ?? false, now: clock.now() };
      const { reason } = unaskedBoot(view.value, terms) ?? {};
      logger.warn('the host has booted, and nobody has asked for that', { reason, held: terms.isHeld });
      await apiserver.report((seen) => noting(seen, terms), signal);
    }
    isDone = true;
  };
}

function noting(view: View, terms: Terms): AgentStatus {
  const boot = unaskedBoot(view, terms);
  if (!boot) return currentStatus(view);
  const { finished, reason } = boot;
  const noted = { ...currentStatus(view), finished };
  if (!reason) return noted;
  const before = view.shadow?.status?.finished?.version ?? view.version;
  const message = MESSAGES[reason](before, view.version);
  return withFailure(noted, { state: 'Idle', reason, message, version: before }, rfc3339(terms.now));
}

const MESSAGES = {
  Reverted: (finished: string, running: string) =>
    `the node had finished ${finished}, and has booted ${running}, which nobody had asked for`,
  Unstable: (finished: string) =>
    `the node has booted twice within an hour of finishing ${finished}, which nobody had asked for`,
};
