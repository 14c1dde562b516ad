import { type EnvVar, type EnvValues, optionalText, port, readEnv, seconds, text } from '../lib/env.ts';
import { logEnv } from '../lib/log.ts';
import { processEnv } from '../lib/process-env.ts';

/** How many: a plain count, a share of the managed nodes, or no limit. */
export type Amount =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'unlimited' };

const amount = (meta: { readonly help: string; readonly default: string }): EnvVar<Amount> => ({
  expected: 'a positive integer, a percentage or "unlimited"',
  parse: parseAmount,
  ...meta,
});

function parseAmount(value: string): Amount | undefined {
  if (value.toLowerCase() === 'unlimited') return { kind: 'unlimited' };
  if (/^[1-9]\d{0,8}$/.test(value)) return { kind: 'count', count: Number(value) };
  const percent = /^([1-9]\d?|100)%$/.exec(value)?.[1];
  return percent === undefined ? undefined : { kind: 'percent', percent: Number(percent) };
}

/** Every environment variable of the controller. */
export const controllerEnv = {
  ...processEnv,
  ...logEnv,
  MY_NODE_NAME: text({ help: 'name of the node that this pod runs on; it is updated last' }),
  MY_POD_NAME: optionalText({ help: 'name of this pod, for the Lease and Events' }),
  MAX_CONCURRENT_UPDATE: amount({
    help: 'nodes that may be updating at once: a number, a percentage or "unlimited"',
    default: '1',
  }),
  MAX_FAILED_UPDATE: amount({
    help: 'nodes that may fail on a version before it is halted: a number, a percentage or "unlimited"',
    default: '10%',
  }),
  SCHEDULER_CRON_EXPRESSION: text({
    help: 'when updates may start: seven cron fields, seconds to year, UTC',
    default: '* * * * * * *',
  }),
  UPDATE_WINDOW_START: optionalText({ help: 'deprecated: start of the daily window, HH:MM:SS, UTC' }),
  UPDATE_WINDOW_STOP: optionalText({ help: 'deprecated: end of the daily window, HH:MM:SS, UTC' }),
  MONITORING_TIME_IN_SEC: seconds({ help: 'how long a node must be Ready after its update', default: '0' }),
  MONITORING_TIMEOUT_IN_SEC: seconds({
    help: 'how long it may be not Ready then before it counts as failed',
    default: '900',
  }),
  AGENT_TIMEOUT_IN_SEC: seconds({ help: 'how long a node may be without a running agent', default: '900' }),
  NODE_RETURN_TIMEOUT_IN_SEC: seconds({ help: 'how long a requested reboot may take', default: '900' }),
  NOT_READY_HOLD_IN_SEC: seconds({
    help: 'how long a node that is not Ready takes a slot; 0 = never',
    default: '3600',
  }),
  HTTP_PORT: port({ help: 'plain HTTP port of /metrics, /healthz, /readyz and /plan', default: '8080' }),
} as const;

export type ControllerConfig = EnvValues<typeof controllerEnv>;

/** @throws EnvError naming every fault */
export function readControllerConfig(source: Readonly<Record<string, string | undefined>>): ControllerConfig {
  return readEnv(controllerEnv, source);
}
