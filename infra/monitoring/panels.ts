import { needsPerson, type Reason, REASONS } from '../../runtime/controller/plan/facts/reasons.ts';

export interface Panel {
  readonly title: string;
  readonly query: string;
  /** Labels by which its lines are told apart, besides their cluster. */
  readonly by: readonly string[];
  readonly unit?: string;
}

const IN_CLUSTER = 'cluster=~"$cluster"';
const OF_POLICY = `${IN_CLUSTER},policy=~"$policy"`;

const blocking = REASONS.filter(needsPerson).join('|');
const WINDOWS = (
  [
    'OutsideWindow',
    'FitsNoWindow',
    'Frozen',
    'Paused',
    'TooYoung',
    'RecentlyUpdated',
    'VersionPinned',
  ] satisfies Reason[]
).join('|');

/** Replicas of the controller show the same, but for a moment. */
const shown = (metric: string, by: readonly string[], matching = IN_CLUSTER): string =>
  `max by (${['cluster', ...by].join(', ')}) (${metric}{${matching}})`;
const rate = (metric: string, by: readonly string[]): string =>
  `sum by (${['cluster', ...by].join(', ')}) (rate(${metric}{${IN_CLUSTER}}[5m]))`;
const ended = (results: string): string =>
  `sum by (cluster) (increase(brupop_controller_updates_total{${IN_CLUSTER},result=~"${results}"}[1d]))`;
const slowest = (metric: string, by: readonly string[]): string =>
  `histogram_quantile(0.9, sum by (${['cluster', ...by, 'le'].join(', ')}) (rate(${metric}_bucket{${IN_CLUSTER}}[6h])))`;

/** Nodes and their rollout first, then how updates go, then the parts of the operator. */
export const PANELS: readonly Panel[] = [
  {
    title: 'Nodes by version',
    query: shown('brupop_hosts_version', ['bottlerocket_version']),
    by: ['bottlerocket_version'],
  },
  {
    title: 'Nodes by policy',
    query: shown('brupop_controller_policy_nodes', ['policy', 'state'], OF_POLICY),
    by: ['policy', 'state'],
  },
  {
    title: 'Blocked: nodes that need a person, by reason',
    query: `${shown('brupop_controller_verdicts', ['reason'], `${IN_CLUSTER},reason=~"${blocking}"`)} > 0`,
    by: ['reason'],
  },
  {
    title: 'All nodes, by why they are not being updated',
    query: `${shown('brupop_controller_verdicts', ['reason'])} > 0`,
    by: ['reason'],
  },
  {
    title: 'Windows: nodes that wait for one, are paused or frozen, or wait for a version',
    query: shown('brupop_controller_verdicts', ['reason'], `${IN_CLUSTER},reason=~"${WINDOWS}"`),
    by: ['reason'],
  },
  {
    title: 'Halted versions by policy',
    query: shown('brupop_controller_policy_halted_releases', ['policy'], OF_POLICY),
    by: ['policy'],
  },
  {
    title: 'Success: share of the updates that ended within a day',
    query: `${ended('succeeded')} / ${ended('succeeded|failed|rescued')}`,
    by: [],
    unit: 'percentunit',
  },
  {
    title: 'Updates that ended, per hour',
    query: `sum by (cluster, result) (increase(brupop_controller_updates_total{${IN_CLUSTER}}[1h]))`,
    by: ['result'],
  },
  {
    title: 'Duration of steps (nine of ten take less)',
    query: slowest('brupop_controller_step_duration_seconds', ['step']),
    by: ['step'],
    unit: 's',
  },
  {
    title: 'Duration of drains (nine of ten take less)',
    query: slowest('brupop_apiserver_drain_duration_seconds', []),
    by: [],
    unit: 's',
  },
  { title: 'Permits that are taken', query: shown('brupop_controller_slots', []), by: [] },
  { title: 'Nodes by state', query: shown('brupop_hosts_state', ['state']), by: ['state'] },
  {
    title: 'Time until the certificate ends',
    query: `min by (cluster) (brupop_apiserver_certificate_expiry_timestamp_seconds{${IN_CLUSTER}}) - time()`,
    by: [],
    unit: 's',
  },
  { title: 'Evictions', query: rate('brupop_apiserver_evictions_total', ['result']), by: ['result'], unit: 'reqps' },
  {
    title: 'Requests to the apiserver',
    query: rate('brupop_apiserver_http_requests_total', ['route', 'code']),
    by: ['route', 'code'],
    unit: 'reqps',
  },
  { title: 'Refusals', query: rate('brupop_apiserver_refusals_total', ['reason']), by: ['reason'], unit: 'reqps' },
];
