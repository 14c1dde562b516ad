import type { Scenario } from '../types.ts';

/** How many, of how many there are. */
export type Quantity = (of: number) => number;

export type Rounding = 'concurrent' | 'failed' | 'proving';

const ROUNDED: Readonly<Record<Rounding, (share: number) => number>> = {
  concurrent: (share) => Math.max(1, Math.floor(share)),
  failed: (share) => Math.max(2, Math.ceil(share)),
  proving: (share) => Math.max(1, Math.ceil(share)),
};

/** Of `3`, `10%` or `unlimited`. */
export function quantity(text: string, rounding: Rounding): Quantity {
  if (text.toLowerCase() === 'unlimited') return () => Infinity;
  if (text.endsWith('%')) return (of) => ROUNDED[rounding]((Number(text.slice(0, -1)) * of) / 100);
  return () => Number(text);
}

/** The settings of a scenario as docs/deploying.md has them. Times are milliseconds. */
export type Terms = Readonly<ReturnType<typeof termsOf>>;

export function termsOf({ settings: { controller, apiserver, agent } }: Scenario) {
  const seconds = (of: Readonly<Record<string, string>>, name: string, usual: number): number =>
    Number(of[name] ?? usual) * 1000;
  return {
    maxConcurrent: quantity(controller['MAX_CONCURRENT_UPDATE'] ?? '1', 'concurrent'),
    maxFailed: quantity(controller['MAX_FAILED_UPDATE'] ?? '10%', 'failed'),
    /** Nodes on which a release has to be proven. */
    proofNodes: quantity(controller['PROOF_NODES'] ?? '1', 'proving'),
    /** Whether an update has to be done before the window closes. */
    fits: controller['WINDOW_FIT'] === 'strict',
    soakMs: seconds(controller, 'MONITORING_TIME_IN_SEC', 0),
    /** How long an update waits for what its drain has moved. */
    settleMs: seconds(controller, 'SETTLE_TIME_IN_SEC', 300),
    soakTimeoutMs: seconds(controller, 'MONITORING_TIMEOUT_IN_SEC', 900),
    agentTimeoutMs: seconds(controller, 'AGENT_TIMEOUT_IN_SEC', 900),
    returnTimeoutMs: seconds(controller, 'NODE_RETURN_TIMEOUT_IN_SEC', 900),
    notReadyHoldMs: seconds(controller, 'NOT_READY_HOLD_IN_SEC', 3600),
    checkFailedAfterMs: seconds(controller, 'CHECK_FAILED_AFTER_IN_SEC', 3600),
    /** Infinity where drains have no end. */
    drainTimeoutMs: seconds(apiserver, 'DRAIN_TIMEOUT_IN_SEC', 1800) || Infinity,
    /** 0 = volumes are not waited for. */
    volumesMs: seconds(apiserver, 'VOLUME_DETACH_TIMEOUT_IN_SEC', 120),
    /** How long a pod that is ending is waited for past its time; Infinity = for as long as the drain lasts. */
    stuckMs: seconds(apiserver, 'SKIP_WAIT_FOR_DELETE_TIMEOUT_IN_SEC', 300) || Infinity,
    exclusionMs: seconds(agent, 'EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC', 0),
    /** Whether updates start at certain times alone. */
    hasWindows: hasWindows(controller),
  };
}

const hasWindows = (controller: Readonly<Record<string, string>>): boolean =>
  controller['SCHEDULER_CRON_EXPRESSION'] !== undefined || controller['UPDATE_WINDOW_START'] !== undefined;
