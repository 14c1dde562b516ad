import { PUBLIC_REPOSITORY } from '../../runtime/api/waves/repositories.ts';
import { type Alert, gone, highest, lowest } from './alert.ts';

const EXPIRY = 'brupop_apiserver_certificate_expiry_timestamp_seconds';
const NOTIFICATIONS = 'notifications.md#when-something-does-not-arrive';
const AFTERWARDS = 'operating.md#workloads-after-an-update';
/** The beginning of its addresses, which holds for every family. */
const [PUBLIC = ''] = PUBLIC_REPOSITORY.metadata.split('{');
/** Asked of the metric that says no reason: the reason may change within that time. */
const LATE_FOR_LONG = `min_over_time(${highest('brupop_controller_policy_will_miss_deadline')}[15m:1m]) == 1`;

export const METRIC_ALERTS: readonly Alert[] = [
  {
    name: 'BrupopPolicyHalted',
    severity: 'critical',
    expression: `${highest('brupop_controller_policy_halted_releases')} > 0`,
    during: '5m',
    summary: 'Under the policy {{ $labels.policy }} no further node starts on {{ $value }} version(s).',
    description:
      'Too many of its nodes failed, or did not come back: kubectl brupop releases says which, and on which version. Repair them, wait for a newer version, or go on in spite of it: kubectl brupop allow VERSION.',
    runbook: 'operating.md#the-rollout-halted',
  },
  {
    name: 'BrupopPolicyNotAccepted',
    severity: 'warning',
    expression: `${lowest('brupop_controller_policy_accepted')} == 0`,
    during: '5m',
    summary: 'The policy {{ $labels.policy }} cannot be obeyed: none of its nodes starts.',
    description:
      'kubectl brupop why, for one of its nodes, names the field, what was expected and what came; so does the condition Accepted of the policy.',
    runbook: 'operating.md#why-is-this-node-not-being-updated',
  },
  {
    name: 'BrupopArrivingTooLong',
    severity: 'critical',
    expression: `${highest('brupop_controller_overdue_arrivals')} > 0`,
    during: '2m',
    summary:
      '{{ $value }} node(s) keep pods away as machines that have just joined, though their ten minutes are over.',
    description:
      'kubectl brupop leftovers names them, and the command that takes the taint away. The controller does by itself: its log says "not written" where the API server refuses that.',
    runbook: 'eks.md#updated-before-pods-come',
  },
  {
    name: 'BrupopWillMissDeadline',
    severity: 'warning',
    expression: `${highest('brupop_controller_policy_late_seconds')} and ignoring (because) ${LATE_FOR_LONG}`,
    during: '0m',
    summary:
      'Under the policy {{ $labels.policy }} a release will be late by {{ $value | humanizeDuration }} at least.',
    description:
      'Most of the time goes to {{ $labels.because }}. Change that setting, or let the release start ahead of its time: kubectl brupop expedite VERSION. The condition WillMissDeadline of the policy names the release.',
    runbook: 'policies.md#status',
  },
  {
    name: 'BrupopWorkloadsWarned',
    severity: 'warning',
    expression: `${highest('brupop_controller_workloads_warned')} > 0`,
    during: '0m',
    summary:
      'Pods are clearly worse on {{ $value }} updated node(s) than on nodes that were not updated. Their policy only warns.',
    description:
      'kubectl brupop why NODE names their owners and what ails them. Where the release is at fault: kubectl brupop halt VERSION.',
    runbook: AFTERWARDS,
  },
  {
    name: 'BrupopWorkloadsNotBack',
    severity: 'warning',
    expression: `${highest('increase(brupop_controller_workloads_not_back_total[1h])')} > 0`,
    during: '0m',
    summary: 'Updates ended while workloads that their drains had moved did not run again as before.',
    description:
      'kubectl brupop history --since 1h names the nodes and the workloads. The rollout goes on: where it must not, settleFails counts such nodes as failed on the release.',
    runbook: AFTERWARDS,
  },
  {
    name: 'BrupopNotificationsFailing',
    severity: 'warning',
    expression: `${highest('brupop_controller_notifications_failing')} == 1`,
    during: '30m',
    summary: 'Notifications do not reach the target {{ $labels.target }}.',
    description:
      'kubectl brupop notify test TARGET tries it and says why. So does the log of the controller: "notification not accepted yet", or "notification given up".',
    runbook: NOTIFICATIONS,
  },
  {
    name: 'BrupopNotificationsUnusable',
    severity: 'warning',
    expression: `${highest('brupop_controller_notifications_config_unusable')} == 1`,
    during: '5m',
    summary: 'The configuration of notifications cannot be used; those of before stay, if there were any.',
    description:
      'The log of the controller names the field: "configuration of notifications cannot be used". Once it is mended, try it: kubectl brupop notify test.',
    runbook: NOTIFICATIONS,
  },
  {
    name: 'BrupopRepositoryFailing',
    severity: 'warning',
    // Of the public one, which is read without anybody asking for it, nobody is called: a fleet without egress is well.
    expression: `${highest(`brupop_controller_repository_failing{metadata!~"${PUBLIC}.*"}`)} == 1`,
    during: '1h',
    summary: 'The repository {{ $labels.metadata }}, which the settings name, cannot be read.',
    description:
      'kubectl brupop doctor says why. Updates go on; until it is mended, nobody is told anew when releases reach nodes.',
    runbook: 'waves.md#repositories',
  },
  {
    name: 'BrupopSlotsUnreadable',
    severity: 'critical',
    expression: `${highest('brupop_controller_slots_unreadable')} == 1`,
    during: '5m',
    summary:
      'Somebody has overwritten the list on the Lease brupop-controller of nodes that may update: no update goes on.',
    description:
      'Once kubectl brupop status shows no node in the middle of an update, remove the annotation brupop.bottlerocket.aws/slots from the Lease. The Event SlotsUnreadable of the Lease, and the log of the controller, say the same.',
    runbook: 'operating.md#how-many-nodes-at-once',
  },
  {
    name: 'BrupopNoLeader',
    severity: 'warning',
    expression: gone('brupop_controller_leader', ' == 1'),
    during: '15m',
    summary: 'No controller decides: no node is updated.',
    description:
      'kubectl brupop doctor says why the pods of the Deployment brupop-controller-deployment do not run, and who has the Lease brupop-controller. If they run, Prometheus does not scrape them.',
    runbook: 'operating.md#a-node-does-not-update',
  },
  {
    name: 'BrupopNoApiserver',
    severity: 'critical',
    expression: gone(EXPIRY),
    during: '5m',
    summary:
      'All apiservers are gone: no node is drained, no agent can report, and BottlerocketShadows that are stored as v1 cannot be read.',
    description:
      'kubectl brupop doctor says why the pods of the Deployment brupop-apiserver do not run. If they run, Prometheus does not scrape them.',
    runbook: 'operating.md#the-webhook-fails',
  },
  {
    name: 'BrupopCertificateUnusable',
    severity: 'warning',
    expression: `${highest('brupop_apiserver_certificate_files_unusable')} == 1`,
    during: '5m',
    summary: 'The certificate files of the apiserver cannot be used; it serves the ones before, if there were any.',
    description:
      'The log of the apiserver says why: "certificate files cannot be used"; kubectl brupop doctor, what it serves.',
    runbook: 'operating.md#certificates',
  },
];

/** Name of the alert whose threshold a setting decides. */
export const EXPIRING = 'BrupopCertificateExpiring';

/** @param seconds that a certificate must be valid for from now on */
export const certificateExpiring = (seconds: number): Alert => ({
  name: EXPIRING,
  severity: 'critical',
  expression: `${lowest(EXPIRY)} - time() < ${seconds}`,
  during: '1h',
  summary: 'The certificate of the apiserver expires in {{ $value | humanizeDuration }}.',
  description:
    'It should have been renewed by now: kubectl brupop doctor says what keeps it. Once it is void, agents and conversions fail.',
  runbook: 'operating.md#certificates',
});
