import { jitter } from '../../lib/random.ts';
import type { AgentStatus } from '../../api/shadow/model.ts';
import type { View } from '../decide.ts';
import { StepFailedError } from '../failure.ts';
import { HostError, isDeadMount } from '../hosts/errors.ts';
import { failingAhead, stagingAhead } from '../status.ts';
import type { StepContext } from './context.ts';
import type { Staging } from './stage.ts';

/** After it was tried, milliseconds: a download that fails costs the update repository as much as a good one. */
const PAUSE_MS = 600_000;

interface Preparation {
  /** When `version` may be tried, on the clock's monotonic scale. */
  readonly dueAt: (version: string) => number;
  readonly prepare: (version: string, signal: AbortSignal) => Promise<void>;
  /** Reports a status. The first one says that this agent prepares versions ahead; once, because a cluster may not keep it. */
  readonly report: (make: (view: View) => AgentStatus, signal: AbortSignal) => Promise<void>;
}

/**
 * Prepares a version at rest, so that its update need not wait for the download (rule H1). Nothing is activated. A failure is reported, and blames
 * nobody.
 */
export function aheadOfUpdate(context: StepContext, staging: Staging): Preparation {
  const { apiserver, clock, host, logger, random, view } = context;
  let tried: { readonly version: string; readonly again: number } | undefined;
  /** UID of the shadow that was told. */
  let told: string | undefined;
  return {
    dueAt: (version) => (tried?.version === version ? tried.again : -Infinity),
    prepare: async (version, signal) => {
      const failure = await failureOf(() => staging.stage(version, signal, 0));
      tried = { version, again: clock.monotonic() + jitter(PAUSE_MS, 0.1, random) };
      if (failure) logger.warn('could not prepare the version ahead of its update', { version, error: failure });
      await apiserver.report(
        (seen) => (failure ? failingAhead(seen, version, failure.message) : stagingAhead(seen, version)),
        signal,
      );
    },
    report: async (make, signal) => {
      const { uid } = view.value.shadow?.metadata ?? {};
      const isTold = host.traits.versions === 'told' || uid === told;
      await apiserver.report((seen) => (isTold ? make(seen) : { staged: {}, ...make(seen) }), signal);
      told = uid;
    },
  };
}

async function failureOf(work: () => Promise<void>): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const isSaid = error instanceof StepFailedError || (error instanceof HostError && !isDeadMount(error));
    if (!isSaid) throw error;
    return error;
  }
}
