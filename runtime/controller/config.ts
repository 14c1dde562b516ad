import { ARRIVING_KEY } from '../api/marks/taints.ts';
import type { Settings } from './plan/facts/snapshot.ts';
import { ANY_TIME, cronExpression, type InZone } from './deciding/schedule/cron.ts';
import { cached, dailySchedule, type Schedule } from './deciding/schedule/schedule.ts';
import {
  atLeastSeconds,
  bool,
  EnvError,
  type EnvValues,
  type EnvVar,
  oneOf,
  optionalText,
  port,
  processEnv,
  readEnv,
  seconds,
  text,
} from '../lib/env.ts';
import { logEnv } from '../lib/log.ts';
import { timeZone } from '../lib/time-zone.ts';
import { parseRepositories, PUBLIC, type Repository } from '../api/waves/repositories.ts';
import { NO_CHECKS } from '../api/policy/checks.ts';
import type { UpdatePolicy } from '../api/policy/policy.ts';
import { EXPECTED_MAX, LATEST, limitOf, VERSION_OR_LATEST } from '../api/policy/version.ts';
import { ANY_COUNT, COUNT_AT_ONCE, limit, PROOF_NODES } from '../api/policy/quantity.ts';
import { dayTime, quantity, readAhead } from './variables.ts';

const HTTP_URL = String.raw`^https?://[^\s/?#]+(/[^\s?#]*)?$`;
const isPlainUrl = (value: string): boolean => new RegExp(HTTP_URL).test(value) && URL.canParse(value);

const TAINT_KEY = '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';

/** Every environment variable of the controller. */
export const controllerEnv = {
  ...processEnv,
  ...logEnv,
  MY_NODE_NAME: text({ help: 'name of the node that this pod runs on; it is updated last' }),
  MY_POD_NAME: optionalText({ help: 'name of this pod, for the Lease and Events' }),
  MAX_CONCURRENT_UPDATE: quantity(limit(COUNT_AT_ONCE), {
    help: 'nodes that may be updating at once: a number, a percentage or "unlimited"; never more than 600',
    default: '1',
  }),
  READ_AHEAD: readAhead,
  MAX_FAILED_UPDATE: quantity(limit(ANY_COUNT), {
    help: 'nodes that may fail on a version before it is halted: a number, a percentage or "unlimited"',
    default: '10%',
  }),
  MAX_UNHEALTHY: quantity(limit(ANY_COUNT), {
    help: 'nodes that may be not Ready before nothing new is disturbed: a number or a percentage, never fewer than 3; 100% or "unlimited" = never',
    default: '10%',
  }),
  PROOF_NODES: quantity(PROOF_NODES, {
    help: 'nodes of a variant and architecture that must run a version and be well before more start on it: a number or a percentage',
    default: '1',
  }),
  MIN_RELEASE_AGE_IN_SEC: seconds({
    help: 'how long a release must have been offered in this cluster before it starts',
    default: '0',
  }),
  MAX_VERSION: {
    expected: EXPECTED_MAX,
    help: `no version above it starts; ${LATEST} = no limit`,
    default: LATEST,
    parse: (value) => (new RegExp(VERSION_OR_LATEST).test(value) ? value : undefined),
    schema: { type: 'string', pattern: VERSION_OR_LATEST },
  } satisfies EnvVar<string>,
  PROMETHEUS_URL: {
    expected: 'an http:// or https:// URL without a query',
    help: 'where checks of policies ask their queries; empty = nowhere',
    default: '',
    parse: (value) => (value === '' || isPlainUrl(value) ? value : undefined),
    schema: { type: 'string', pattern: HTTP_URL },
  } satisfies EnvVar<string>,
  SCHEDULER_CRON_EXPRESSION: {
    expected: 'seven cron fields, second to year (the five of crontab lack the second)',
    help: 'when updates may start: seven cron fields, second to year, by SCHEDULER_TIME_ZONE',
    default: '* * * * * * *',
    parse: cronExpression,
    schema: { type: 'string', pattern: '^\\s*\\S+(\\s+\\S+){5,6}\\s*$' },
  } satisfies EnvVar<InZone>,
  SCHEDULER_TIME_ZONE: {
    expected: 'an IANA time zone like Europe/Berlin',
    help: 'time zone of the cron expression',
    default: 'UTC',
    parse: timeZone,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_+/:-]+$' },
  } satisfies EnvVar<string>,
  WINDOW_FIT: oneOf(['off', 'strict'], {
    help: 'strict = start no update that would not be done before the window closes',
    default: 'off',
  }),
  UPDATE_WINDOW_START: dayTime('deprecated: start of the daily window, HH:MM:SS, UTC'),
  UPDATE_WINDOW_STOP: dayTime('deprecated: end of the daily window (exclusive), HH:MM:SS, UTC'),
  MONITORING_TIME_IN_SEC: seconds({ help: 'how long a node must be Ready after its update', default: '0' }),
  SETTLE_TIME_IN_SEC: seconds({
    help: 'how long an update waits, once its node is back, until the workloads that its drain has moved run again; 0 = not at all',
    default: '300',
  }),
  SETTLE_FAILS: bool({
    help: 'whether workloads that do not run again by then count as a failure of the update',
    default: 'false',
  }),
  MONITORING_TIMEOUT_IN_SEC: seconds({
    help: 'how long it may be not Ready then before it counts as failed',
    default: '900',
  }),
  AGENT_TIMEOUT_IN_SEC: seconds({ help: 'how long a node may be without a running agent', default: '900' }),
  NODE_RETURN_TIMEOUT_IN_SEC: seconds({ help: 'how long a requested reboot may take', default: '900' }),
  NOT_READY_HOLD_IN_SEC: seconds({
    help: 'how long a node that is not Ready, or that somebody else has out, takes a permit; 0 = never',
    default: '3600',
  }),
  CACHE_TIMEOUT_IN_SEC: atLeastSeconds(15, {
    help: 'how long what was read of the cluster counts as current; nothing is disturbed anew after that',
    default: '90',
  }),
  CHECK_FAILED_AFTER_IN_SEC: seconds({
    help: 'how long a host may fail to look for updates before its node is said to be unable to',
    default: '3600',
  }),
  ARRIVING_TAINT: {
    expected: 'the key of a taint',
    help: 'key of the taint with which machines join that are to be updated before pods land on them',
    default: ARRIVING_KEY,
    parse: (value) => (new RegExp(TAINT_KEY).test(value) ? value : undefined),
    schema: { type: 'string', pattern: TAINT_KEY },
  } satisfies EnvVar<string>,
  LABEL_NODES: bool({ help: 'label Bottlerocket nodes for updates, each one once', default: 'false' }),
  NODE_ANNOTATIONS: bool({
    help: "whether Nodes say in the first operator's annotations where their updates are",
    default: 'false',
  }),
  NODE_LIFECYCLE_CONDITIONS: oneOf(['none', 'written', 'removed'], {
    help: "alpha: whether Nodes say in Kubernetes' lifecycle conditions where their updates are; removed = take ours away",
    default: 'none',
  }),
  OTHER_OPERATORS: oneOf(['stop', 'ignore'], {
    help: "stop = nothing new is disturbed while another namespace has shadows, which are another operator's",
    default: 'stop',
  }),
  INTERFACE_V1: bool({
    help: "whether nodes of the first operator's interface, labelled 1.0.0, are managed too",
    default: 'false',
  }),
  EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC: seconds({
    help: 'as the agents have it; above 0, a policy that leaves no load balancer target is warned of',
    default: '0',
  }),
  DRAIN_TIMEOUT_IN_SEC: seconds({
    help: 'as the apiservers have it; an update that takes longer than its drain may counts as making no progress',
    default: '1800',
  }),
  K3OS_NAMESPACE: optionalText({ help: 'namespace of the UpdateChannels of k3OS nodes, which are updated then' }),
  K3OS_RELEASES_URL: {
    expected: 'an http:// or https:// URL',
    help: "address of GitHub's REST API, which says which releases of k3OS there are",
    default: 'https://api.github.com',
    parse: (value) => (isPlainUrl(value) ? value : undefined),
  } satisfies EnvVar<string>,
  UPDATE_REPOSITORIES: {
    expected: 'a list of repositories as JSON, or public',
    help: "repositories that say which releases there are and when they reach hosts: JSON [{metadata, targets, root or rootSha512}], public for Bottlerocket's own, [] for none",
    default: PUBLIC,
    parse: parseRepositories,
  } satisfies EnvVar<readonly Repository[]>,
  REPOSITORIES_DIR: optionalText({
    help: 'folder that the reader of repositories may write to; none are read without it',
  }),
  NOTIFICATIONS_DIR: optionalText({
    help: 'folder with whom to notify of what happens, and with their Secrets; nobody is notified without it',
  }),
  HTTP_PORT: port({ help: 'plain HTTP port of /metrics, /healthz, /readyz and /plan', default: '8080' }),
} as const;

/**
 * Arguments of Node itself. A small young generation: a list of large Nodes is garbage as soon as it is projected, and with the default
 * size it stays in memory for long. The old one has this share of the container's limit; Node's own program takes most of the rest.
 */
export const CONTROLLER_NODE_FLAGS = ['--max-semi-space-size=2', '--max-old-space-size-percentage=65'] as const;

/**
 * Variables that glibc reads, not this process (mallopt(3)). What a page of large Nodes is read into gets pages of its own, which go back at once;
 * unless the threshold is set, it grows with the first of these, and what is freed stays in memory. The heap grows by no more than is asked for.
 */
export const CONTROLLER_ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TOP_PAD_: '0' } as const;

export type ControllerConfig = EnvValues<typeof controllerEnv>;

type Source = Readonly<Record<string, string | undefined>>;

/** @throws EnvError naming every fault */
export function readControllerConfig(source: Source): ControllerConfig {
  const faults = windowFaults(source);
  try {
    const config = readEnv(controllerEnv, source);
    if (faults.length === 0) return config;
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    throw new EnvError([...error.faults, ...faults]);
  }
  throw new EnvError(faults);
}

function windowFaults({ UPDATE_WINDOW_START: start, UPDATE_WINDOW_STOP: stop }: Source): readonly string[] {
  if (Boolean(start) !== Boolean(stop)) {
    return ['UPDATE_WINDOW_START, UPDATE_WINDOW_STOP: expected both or neither, got one of them'];
  }
  if (start && start === stop) return ['UPDATE_WINDOW_STOP: expected another time than UPDATE_WINDOW_START'];
  return [];
}

/** When updates may start. A cron expression other than the default wins over the deprecated daily window. */
export function scheduleOf(config: ControllerConfig): Schedule {
  const { SCHEDULER_CRON_EXPRESSION: cron, UPDATE_WINDOW_START: start, UPDATE_WINDOW_STOP: stop } = config;
  if (cron === ANY_TIME && start !== null && stop !== null) return dailySchedule(start, stop);
  return cached(cron(config.SCHEDULER_TIME_ZONE));
}

/** The policy that the variables make up. It rules the nodes that no other policy selects. */
export function policyOf(config: ControllerConfig): UpdatePolicy {
  return {
    name: undefined,
    selector: {},
    priority: -Infinity,
    paused: false,
    maxConcurrent: config.MAX_CONCURRENT_UPDATE,
    maxFailed: config.MAX_FAILED_UPDATE,
    pauseBetweenMs: 0,
    zones: { key: 'topology.kubernetes.io/zone', atOnce: Infinity },
    windows: undefined,
    mustFit: config.WINDOW_FIT === 'strict',
    freezes: [],
    version: {
      minAgeMs: config.MIN_RELEASE_AGE_MS,
      max: limitOf(config.MAX_VERSION),
      exact: undefined,
      ignoreWaves: false,
    },
    proof: { nodes: config.PROOF_NODES, soakMs: 0 },
    checks: NO_CHECKS,
    after: [],
    afterExternal: [],
    needsApproval: false,
    rollsBack: false,
    waitsForRoom: false,
    unwell: [],
    prefersUpdated: false,
    soakMs: config.MONITORING_TIME_MS,
    letFinish: undefined,
    settleMs: config.SETTLE_TIME_MS,
    settleFails: config.SETTLE_FAILS,
  };
}

/** The settings that hold whichever policy rules a node. */
export function settingsOf(config: ControllerConfig): Omit<Settings, 'conditionWrites'> {
  return {
    maxConcurrent: config.MAX_CONCURRENT_UPDATE,
    readAhead: config.READ_AHEAD.atMost,
    maxUnhealthy: config.MAX_UNHEALTHY,
    ownNode: config.MY_NODE_NAME,
    soakTimeoutMs: config.MONITORING_TIMEOUT_MS,
    agentTimeoutMs: config.AGENT_TIMEOUT_MS,
    returnTimeoutMs: config.NODE_RETURN_TIMEOUT_MS,
    drainTimeoutMs: config.DRAIN_TIMEOUT_MS,
    notReadyHoldMs: config.NOT_READY_HOLD_MS,
    checkFailedAfterMs: config.CHECK_FAILED_AFTER_MS,
    labelNodes: config.LABEL_NODES,
    arrivingTaint: config.ARRIVING_TAINT,
    excludesFromLb: config.EXCLUDE_FROM_LB_WAIT_TIME_MS > 0,
  };
}
