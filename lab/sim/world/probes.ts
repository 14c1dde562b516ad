import type { V1Probe } from '@kubernetes/client-node';
import type { Json } from '../../../runtime/kube/objects.ts';
import { withDeadline } from '../../../runtime/lib/abort.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';

/** One probe. It fails by false, by rejecting, or by taking too long. */
export type Ask = (signal: AbortSignal) => Promise<boolean>;

export interface Probing {
  readonly probe: Json<V1Probe>;
  readonly ask: Ask;
  readonly clock: Clock;
}

/** A kubelet takes the probe's own period; nobody has to wait that long here. */
const UNREADY_POLL_MS = 100;
/** Kubernetes' own. */
const DEFAULTS = { initialDelaySeconds: 0, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 };

/** Asks over HTTP as the probe says. @param portOf port of this machine for the one that a probe names; undefined where nobody listens */
export function askOverHttp({ httpGet }: Json<V1Probe>, portOf: (named: number | string) => number | undefined): Ask {
  return async (signal) => {
    const port = httpGet && portOf(httpGet.port);
    if (port === undefined) return false;
    const answer = await fetch(`http://127.0.0.1:${port}${httpGet?.path ?? '/'}`, { signal, redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status >= 200 && answer.status < 400;
  };
}

/** Resolves when a probe has succeeded, or the signal aborts. */
export async function untilReady(probing: Probing, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await succeeds(probing, signal))) await pause(UNREADY_POLL_MS, probing.clock, signal);
}

/**
 * Probes a container that is well, as a kubelet does, until the signal aborts: so many failures in a row are one change, a success the next.
 * @param changed hears of each change
 */
export async function followProbe(
  probing: Probing & { readonly changed: (well: boolean) => void },
  signal: AbortSignal,
): Promise<void> {
  const { clock, changed, probe } = probing;
  const { initialDelaySeconds, periodSeconds, failureThreshold } = { ...DEFAULTS, ...probe };
  let well = true;
  let failures = 0;
  await pause(initialDelaySeconds * 1000, clock, signal);
  for (;;) {
    await pause(periodSeconds * 1000, clock, signal);
    if (signal.aborted) return;
    const answer = await succeeds(probing, signal);
    if (signal.aborted) return;
    failures = answer ? 0 : failures + 1;
    const isNow: boolean = answer || (well && failures < failureThreshold);
    if (isNow !== well) changed(isNow);
    well = isNow;
  }
}

function succeeds({ probe, ask, clock }: Probing, signal: AbortSignal): Promise<boolean> {
  const ms = (probe.timeoutSeconds ?? DEFAULTS.timeoutSeconds) * 1000;
  return withDeadline({ clock, ms, signal }, ask).catch(() => false);
}

async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined);
}
