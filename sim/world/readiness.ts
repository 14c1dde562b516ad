import { withDeadline } from '../../runtime/lib/abort.ts';
import type { Clock } from '../../runtime/lib/clock.ts';

/** A container's readiness probe, as its pod states it. */
export interface ReadinessProbe {
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

/** Kubernetes' own. */
const DEFAULTS = { periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 };

export interface ReadinessOptions {
  readonly probe: ReadinessProbe;
  readonly clock: Clock;
  /** One probe. It fails by false, by rejecting, or by taking too long. */
  readonly ask: (signal: AbortSignal) => Promise<boolean>;
  /** Hears of each change. */
  readonly changed: (ready: boolean) => void;
}

/** Probes a container that is ready, as a kubelet does, until the signal aborts: so many failures in a row are one change, a success the next. */
export async function followReadiness(options: ReadinessOptions, signal: AbortSignal): Promise<void> {
  const { clock, ask, changed } = options;
  const { periodSeconds, timeoutSeconds, failureThreshold } = { ...DEFAULTS, ...options.probe };
  let ready = true;
  let failures = 0;
  for (;;) {
    await clock.sleep(periodSeconds * 1000, signal).catch(() => undefined);
    if (signal.aborted) return;
    const answer = await withDeadline({ clock, ms: timeoutSeconds * 1000, signal }, ask).catch(() => false);
    if (signal.aborted) return;
    failures = answer ? 0 : failures + 1;
    const isNow: boolean = answer || (ready && failures < failureThreshold);
    if (isNow !== ready) changed(isNow);
    ready = isNow;
  }
}
