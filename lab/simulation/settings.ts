import type { Random } from '../../runtime/lib/random.ts';
import { oneOf } from './environment/chance.ts';
import type { Topic } from './plots.ts';
import type { Settings } from './types.ts';

/** When updates may start. It all begins at midnight, UTC; none of them is closed for longer than two hours. */
const WINDOWS: readonly Record<string, string>[] = [
  { SCHEDULER_CRON_EXPRESSION: '* 0-39 * * * * *' },
  { SCHEDULER_CRON_EXPRESSION: '* 10-49 * * * * *', WINDOW_FIT: 'strict' },
  { SCHEDULER_CRON_EXPRESSION: '* 20-59 * * * * *', SCHEDULER_TIME_ZONE: 'America/St_Johns' },
  { SCHEDULER_CRON_EXPRESSION: '* * */2 * * * *', SCHEDULER_TIME_ZONE: 'Europe/Berlin' },
  { UPDATE_WINDOW_START: '02:00:00', UPDATE_WINDOW_STOP: '01:00:00' },
  { UPDATE_WINDOW_START: '04:30:00', UPDATE_WINDOW_STOP: '03:45:00' },
];

/** What an operator's administrator may have set. Few settings are of interest at their defaults alone; most of them stay there. */
export function drawSettings(random: Random, topic?: Topic): Settings {
  const maybe = (share: number, name: string, values: readonly string[]): Record<string, string> =>
    random() < share ? { [name]: oneOf(random, values) } : {};
  const drain = maybe(topic === 'drains' ? 1 : 0.6, 'DRAIN_TIMEOUT_IN_SEC', ['120', '300', '900', '0']);
  const exclusion = maybe(0.2, 'EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC', ['15', '60']);
  const drawn = {
    controller: {
      ...drain,
      ...exclusion,
      MAX_CONCURRENT_UPDATE: oneOf(random, ['1', '1', '1', '2', '2', '3', '20%', '50%', 'unlimited']),
      MAX_FAILED_UPDATE: oneOf(random, ['1', '2', '3', '10%', '50%', 'unlimited']),
      ...(random() < 0.3 && oneOf(random, WINDOWS)),
      ...maybe(0.6, 'MONITORING_TIME_IN_SEC', ['30', '120', '600']),
      ...maybe(0.3, 'MONITORING_TIMEOUT_IN_SEC', ['300']),
      ...maybe(0.6, 'AGENT_TIMEOUT_IN_SEC', ['180', '300']),
      ...maybe(0.6, 'NODE_RETURN_TIMEOUT_IN_SEC', ['300', '600']),
      ...maybe(0.5, 'NOT_READY_HOLD_IN_SEC', ['0', '300', '900']),
      ...maybe(0.2, 'LABEL_NODES', ['true']),
    },
    apiserver: {
      ...drain,
      ...maybe(0.4, 'DRAIN_PREFLIGHT', ['refuse']),
      ...maybe(0.4, 'VOLUME_DETACH_TIMEOUT_IN_SEC', ['0', '30']),
      ...maybe(0.3, 'MAX_CONCURRENT_EVICTIONS', ['1', '2']),
    },
    agent: { ...exclusion, ...maybe(0.3, 'UPDATE_CHECK_INTERVAL_IN_SEC', ['60', '300']) },
  };
  const looks = maybe(0.5, 'CHECK_FAILED_AFTER_IN_SEC', ['120', '300']);
  const told = maybe(0.4, 'NOTIFICATIONS_DIR', ['/etc/notifications']);
  return { ...drawn, controller: { ...drawn.controller, ...looks, ...told } };
}
