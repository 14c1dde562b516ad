import type { Settings } from './props/brupop.ts';
import type { ScheduleSettings } from './props/schedule.ts';

const PROCESSES = ['agent', 'apiserver', 'controller'] as const;

/** Combinations of valid props that can still hurt. */
export function warningsOf(settings: Settings): readonly string[] {
  const { agent, apiserver, controller, networkPolicies } = settings;
  const isUnlimited = isWord(controller.maxConcurrentUpdate, 'unlimited');
  const found: readonly (readonly [boolean, string])[] = [
    [
      isUnlimited && agent.excludeFromLbWaitTimeInSec > 0,
      'controller.maxConcurrentUpdate "unlimited" with agent.excludeFromLbWaitTimeInSec: ' +
        'all nodes can be excluded from their load balancers at once',
    ],
    [
      isUnlimited && isWord(controller.maxFailedUpdate, 'unlimited'),
      'controller.maxConcurrentUpdate and controller.maxFailedUpdate "unlimited": a bad release can reach every node',
    ],
    [
      apiserver.drainTimeoutInSec === 0,
      'apiserver.drainTimeoutInSec 0: a disruption budget that never allows an eviction stops the rollout for ever',
    ],
    [
      isWithoutYear(controller.schedule),
      'controller.schedule.expression has six fields, second to day of week, without the year: every year is meant; ' +
        'add the seventh, "*"',
    ],
    [apiserver.replicas === 1, 'apiserver.replicas 1: agents wait whenever the one replica is itself moved by a drain'],
    [
      !networkPolicies.enabled && Boolean(networkPolicies.kubernetesApiCidrs ?? networkPolicies.metricsNamespace),
      'networkPolicies.enabled is false: kubernetesApiCidrs and metricsNamespace change nothing, and everybody gets in',
    ],
    ...PROCESSES.map(
      (process) =>
        [
          settings[process].resources.limits.memory === undefined,
          `${process}.resources.limits without memory, since those that are given replace the defaults: the process may take what its node has`,
        ] as const,
    ),
  ];
  return found.flatMap(([applies, text]) => (applies ? [text] : []));
}

function isWithoutYear(schedule: ScheduleSettings): boolean {
  return schedule.kind === 'cron' && schedule.expression.trim().split(/\s+/).length === 6;
}

function isWord(value: number | string, word: string): boolean {
  return String(value).toLowerCase() === word;
}
