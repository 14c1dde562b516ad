import type { Clock } from '../lib/clock.ts';
import { instantOf, MINUTE_MS } from '../lib/clock.ts';
import type { Latest } from '../lib/latest.ts';
import type { AgentApi } from './apiserver/client.ts';
import type { View } from './decide.ts';

interface LookOptions {
  readonly nodeName: string;
  readonly api: Pick<AgentApi, 'act'>;
  readonly clock: Clock;
  readonly view: Latest<View>;
}

const PAUSE_MS = MINUTE_MS;
/** An apiserver that does not know of it, or does not answer, is asked less often. */
const LONG_PAUSE_MS = 5 * MINUTE_MS;

/**
 * Asks the apiserver to compare the node's pods with others', each minute for as long as the shadow wants it, and once more after that, so that what was said
 * last goes. Nothing depends on it, and at any other time nothing is asked. Runs until the signal aborts.
 */
export async function askForLooks({ nodeName, api, clock, view }: LookOptions, signal: AbortSignal): Promise<never> {
  let isAsking = false;
  for (;;) {
    await view.until((value) => isAsking || isWanted(value, clock.now()), signal);
    isAsking = isWanted(view.value, clock.now());
    const { nodeUid, bootId } = view.value;
    const { kind } = await api.act({ nodeName, nodeUid, bootId }, 'lookAtWorkloads', signal);
    await clock.sleep(kind === 'ok' ? PAUSE_MS : LONG_PAUSE_MS, signal);
  }
}

function isWanted({ shadow }: View, now: number): boolean {
  const { state, compare_until: until } = shadow?.spec ?? {};
  const isAsked = (instantOf(until) ?? -Infinity) > now || shadow?.status?.workloads != null;
  return isAsked && (state === 'Idle' || state === 'MonitoringUpdate');
}
