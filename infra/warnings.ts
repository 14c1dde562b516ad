import type { Settings } from './props/brupop.ts';
import type { UpdatePolicyProps } from './props/policies.ts';
import type { ScheduleSettings } from './props/schedule.ts';

const PROCESSES = ['agent', 'apiserver', 'controller'] as const;

const ROOT_ON_HOSTS =
  "agent.interfaceV1: on each node of interface 1.0.0 runs a privileged agent with the host's whole root, " +
  "so whoever takes over the operator's image or namespace has these nodes; label them 2.0.0 once they run 0.4.1 or later";

const ROOT_ON_K3OS =
  'k3os.enabled: on each k3OS node runs a privileged agent that can write the installed system, ' +
  "so whoever takes over the operator's image or namespace has these nodes";

type Warning = readonly [applies: boolean, text: string];

/** Combinations of valid props that can still hurt. */
export function warningsOf(settings: Settings): readonly string[] {
  const found = [...ofRollouts(settings), ...ofHosts(settings), ...ofPods(settings)];
  return [...found.flatMap(([applies, text]) => (applies ? [text] : [])), ...samePriorities(settings.policies)];
}

function ofRollouts({ agent, apiserver, controller }: Settings): readonly Warning[] {
  const isUnlimited = isWord(controller.maxConcurrentUpdate, 'unlimited');
  return [
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
  ];
}

const ofHosts = ({ agent, k3os }: Settings): readonly Warning[] => [
  [agent.interfaceV1, ROOT_ON_HOSTS],
  [k3os.enabled, ROOT_ON_K3OS],
];

function ofPods({ networkPolicies, ...settings }: Settings): readonly Warning[] {
  return [
    [
      settings.apiserver.hostNetwork && networkPolicies.enabled,
      'apiserver.hostNetwork: no network policy applies to the apiserver, since its pods have the addresses of their nodes',
    ],
    [
      settings.apiserver.replicas === 1,
      'apiserver.replicas 1: agents wait whenever the one replica is itself moved by a drain',
    ],
    [
      !networkPolicies.enabled && Boolean(networkPolicies.kubernetesApiCidrs ?? networkPolicies.metricsNamespace),
      'networkPolicies.enabled is false: kubernetesApiCidrs and metricsNamespace change nothing, and everybody gets in',
    ],
    ...PROCESSES.map((process): Warning => [
      settings[process].resources.limits.memory === undefined,
      `${process}.resources.limits without memory, since those that are given replace the defaults: the process may take what its node has`,
    ]),
  ];
}

/** Pairs of policies that surely select the same nodes. Where selectors differ, the controller sees it. */
function samePriorities(policies: readonly UpdatePolicyProps[]): readonly string[] {
  return policies.flatMap((policy, index) =>
    policies
      .slice(index + 1)
      .filter(({ priority = 0 }) => priority === (policy.priority ?? 0))
      .filter((other) => selects(other) === selects(policy) || [selects(other), selects(policy)].includes('{}'))
      .map(
        (other) =>
          `policies ${policy.name} and ${other.name} have the same priority and select the same nodes: ` +
          'nothing starts on a node that two policies of one priority select',
      ),
  );
}

const selects = ({ nodeSelector }: UpdatePolicyProps): string => JSON.stringify(nodeSelector);

function isWithoutYear(schedule: ScheduleSettings): boolean {
  return schedule.kind === 'cron' && schedule.expression.trim().split(/\s+/).length === 6;
}

function isWord(value: number | string, word: string): boolean {
  return String(value).toLowerCase() === word;
}
