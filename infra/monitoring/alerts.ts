import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import * as z from 'zod';
import { REASONS, type VerdictAlert, VERDICTS } from '../../runtime/controller/plan/facts/reasons.ts';
import { PrometheusRule } from '../../imports/monitoring.coreos.com.ts';
import type { Brupop } from '../brupop.ts';
import { addObject, namespacedMeta, templateText } from '../objects.ts';
import { namespaceOrAny } from '../props/fields.ts';
import { checkProps } from '../props/settings.ts';
import { freeLabels } from '../props/workload.ts';
import { watchedOperator } from './operator.ts';

export interface AlertsProps {
  /** The operator that is watched. */
  readonly brupop: Brupop;
  /** Where the objects are to be. @default the operator's */
  readonly namespace?: string | undefined;
  /** Labels by which your Prometheus selects its rules. @default none */
  readonly labels?: Readonly<Record<string, string>>;
}

const alertsProps = z.strictObject({
  brupop: watchedOperator,
  namespace: namespaceOrAny.optional(),
  labels: freeLabels,
} satisfies Record<keyof AlertsProps, z.ZodType>);

/** Alerts on what waits for a person. Needs the CustomResourceDefinitions of the Prometheus operator in the cluster. */
export class Alerts extends Construct {
  readonly rule: ApiObject;

  /** @throws InvalidPropsError */
  constructor(scope: Construct, id: string, props: AlertsProps) {
    const { brupop, namespace, labels } = checkProps(alertsProps, props);
    super(scope, id);
    this.rule = addObject(
      this,
      'Rule',
      PrometheusRule.manifest({
        metadata: namespacedMeta(brupop.settings, { name: 'brupop', namespace, labels }),
        spec: { groups: alertGroups(scope) },
      }),
    );
  }
}

interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  readonly expression: string;
  /** How long it must hold. */
  readonly during: string;
  /** A template of Prometheus. The value is the number of nodes, unless the metric says otherwise. */
  readonly summary: string;
  readonly description: string;
}

/** How many nodes have a verdict that calls for this alert. Only the leader gives verdicts, so the highest value of all replicas is the leader's. */
function nodes(alert: string): string {
  const reasons = REASONS.filter((reason) => VERDICTS[reason].alert === alert);
  return `max by (reason) (brupop_controller_verdicts{reason=~"${reasons.join('|')}"}) > 0`;
}

/** Alerts on verdicts, by name: those that the table of verdicts names. */
const ON_VERDICTS: Readonly<Record<VerdictAlert, Omit<Alert, 'name' | 'expression'>>> = {
  BrupopNodeNotReturned: {
    severity: 'critical',
    during: '0m',
    summary: '{{ $value }} node(s) did not come back from the reboot into an update.',
    description:
      'Each keeps its permit until it is Ready again or its Node is deleted, so that the outage cannot grow.',
  },
  BrupopProgressDeadlineExceeded: {
    severity: 'critical',
    during: '0m',
    summary: 'The update of {{ $value }} node(s) makes no progress.',
    description:
      'The verdict says since when, and whether the node is not Ready. Each may keep its permit until it goes on or its Node is deleted.',
  },
  BrupopNotCurrent: {
    severity: 'critical',
    during: '5m',
    summary: '{{ $value }} node(s) wait because the controller does not know the cluster as it is now.',
    description:
      'The message of the condition UpToDate of the shadow names what cannot be read, and the answer: a right that the role lacks, or an API server that does not answer. The log of the controller says the same: "watch interrupted". Where it is the list of releases: kubectl apply -f dist/brupop.k8s.yaml, or the CustomResourceDefinition bottlerocketreleases.brupop.bottlerocket.aws and the roles of this version.',
  },
  BrupopRolloutHalted: {
    severity: 'critical',
    during: '5m',
    summary: '{{ $value }} node(s) wait because too many others failed on the version that they are offered.',
    description:
      'See status.last_failure of the shadows with a crash_count. MAX_FAILED_UPDATE is the budget, and while no node has proven the version, two more than PROOF_NODES.',
  },
  BrupopTooManyUnhealthy: {
    severity: 'critical',
    during: '5m',
    summary: '{{ $value }} node(s) wait because too many others are not Ready.',
    description:
      'Nothing new is disturbed until they are Ready, are gone, bear the hold annotation, or MAX_UNHEALTHY is raised (100% = never). kubectl brupop why names them.',
  },
  BrupopControlPlaneAway: {
    severity: 'critical',
    during: '0m',
    summary: '{{ $value }} node(s) wait because evicted pods would find no successors.',
    description:
      'kube-controller-manager or kube-scheduler has not renewed its Lease in kube-system for a minute. Nothing new is disturbed until it has.',
  },
  BrupopOtherOperator: {
    severity: 'warning',
    during: '5m',
    summary: '{{ $value }} node(s) wait because there is another operator beside this one.',
    description:
      'kubectl brupop why names the namespaces that have its shadows. Take one of the operators away, with its shadows, or set OTHER_OPERATORS to ignore where both are meant.',
  },
  BrupopNoRulingPolicy: {
    severity: 'warning',
    during: '5m',
    summary:
      '{{ $value }} node(s) are not updated, because nobody can say which policy rules them, or it cannot be obeyed.',
    description: 'The message of the condition UpToDate of the shadow names the policies.',
  },
  BrupopSoakFailed: {
    severity: 'warning',
    during: '0m',
    summary: '{{ $value }} node(s) did not stay Ready after their update.',
    description: 'Each keeps its permit and counts as failed on its version until it is Ready.',
  },
  BrupopFitsNoWindow: {
    severity: 'warning',
    during: '15m',
    summary: '{{ $value }} node(s) never start: no window ahead is open for as long as their updates take.',
    description:
      'An update counts as long as the last one of its node took (annotation brupop.bottlerocket.aws/last-update-seconds of its shadow), else the longest of its kind. Open a longer window, ask for the nodes with kubectl brupop now, or remove the annotation that is no measure.',
  },
  BrupopDrainBlocked: {
    severity: 'warning',
    during: '15m',
    summary: 'The drain of {{ $value }} node(s) does not get on.',
    description: 'status.drain.blocked_by of the shadow names the disruption budget and the pod.',
  },
  BrupopWriteRefused: {
    severity: 'warning',
    during: '15m',
    summary: 'The API server does not take what the controller writes for {{ $value }} node(s).',
    description:
      'The message of the condition UpToDate of the shadow names what was refused, and the answer: a policy, a webhook or a right.',
  },
  BrupopAgentSilent: {
    severity: 'warning',
    during: '15m',
    summary: '{{ $value }} node(s) have no running agent and are not updated.',
    description: 'Look at the pods of the DaemonSet brupop-agent on these nodes.',
  },
  BrupopUnaskedBoot: {
    severity: 'warning',
    during: '0m',
    summary:
      '{{ $value }} node(s) left their version unasked, or booted or went not Ready again and again after their update.',
    description:
      'Each counts as failed on the release. A node that went back is not updated to it again until somebody runs kubectl brupop retry.',
  },
  BrupopCannotLookForUpdates: {
    severity: 'warning',
    during: '5m',
    summary: '{{ $value }} host(s) cannot look for updates, so nobody knows whether their nodes are up to date.',
    description:
      'status.check of the shadow says since when, and what the host said. Hosts need https to updates.bottlerocket.aws, or to the repository that their settings.updates name.',
  },
  BrupopShadowNotOwned: {
    severity: 'warning',
    during: '15m',
    summary:
      '{{ $value }} node(s) have a BottlerocketShadow that does not name the Node as its owner, and are not updated.',
    description: 'Delete the shadow, brs- and the name of the node: its agent registers the node anew.',
  },
};

const ON_METRICS: readonly Alert[] = [
  {
    name: 'BrupopPolicyHalted',
    severity: 'critical',
    expression: 'max by (policy) (brupop_controller_policy_halted_releases) > 0',
    during: '5m',
    summary: 'Under the policy {{ $labels.policy }} no further node starts on {{ $value }} version(s).',
    description:
      'Too many of its nodes failed, or did not come back, before or after the version was proven: kubectl describe bup says which version. It needs a person, or a newer version.',
  },
  {
    name: 'BrupopPolicyNotAccepted',
    severity: 'warning',
    expression: 'min by (policy) (brupop_controller_policy_accepted) == 0',
    during: '5m',
    summary: 'The policy {{ $labels.policy }} cannot be obeyed: none of its nodes starts.',
    description: 'The message of its condition Accepted names the field, what was expected and what came.',
  },
  {
    name: 'BrupopNotificationsFailing',
    severity: 'warning',
    expression: 'max by (target) (brupop_controller_notifications_failing) == 1',
    during: '30m',
    summary: 'Notifications do not reach the target {{ $labels.target }}.',
    description: 'The log of the controller says why: "notification not accepted yet", or "notification given up".',
  },
  {
    name: 'BrupopNotificationsUnusable',
    severity: 'warning',
    expression: 'max(brupop_controller_notifications_config_unusable) == 1',
    during: '5m',
    summary: 'The configuration of notifications cannot be used; those of before stay, if there were any.',
    description: 'The log of the controller names the field: "configuration of notifications cannot be used".',
  },
  {
    name: 'BrupopSlotsUnreadable',
    severity: 'critical',
    expression: 'max(brupop_controller_slots_unreadable) == 1',
    during: '5m',
    summary: 'Somebody has overwritten the list of permits on the Lease brupop-controller: no update goes on.',
    description:
      'Once no node is in the middle of an update, remove the annotation brupop.bottlerocket.aws/slots from the Lease. The Event SlotsUnreadable of the Lease, and the log of the controller, say the same.',
  },
  {
    name: 'BrupopNoLeader',
    severity: 'warning',
    expression: 'absent(brupop_controller_leader == 1)',
    during: '15m',
    summary: 'No controller decides: no node is updated.',
    description: 'Look at the pods of the Deployment brupop-controller-deployment and at the Lease brupop-controller.',
  },
  {
    name: 'BrupopCertificateExpiring',
    severity: 'critical',
    expression: 'min(brupop_apiserver_certificate_expiry_timestamp_seconds) - time() < 14 * 24 * 3600',
    during: '1h',
    summary: 'The certificate of the apiserver expires in {{ $value | humanizeDuration }}.',
    description: 'It should have been renewed by now. Once it is void, agents and conversions fail.',
  },
  {
    name: 'BrupopCertificateUnusable',
    severity: 'warning',
    expression: 'max(brupop_apiserver_certificate_files_unusable) == 1',
    during: '5m',
    summary: 'The certificate files of the apiserver cannot be used; it serves the ones before, if there were any.',
    description: 'The log of the apiserver says why: "certificate files cannot be used". See docs/security.md.',
  },
];

const ALERTS: readonly Alert[] = [
  ...Object.entries(ON_VERDICTS).map(([name, alert]) => Object.assign({ name, expression: nodes(name) }, alert)),
  ...ON_METRICS,
];

/** Groups of a file of rules, as every Prometheus loads them. @internal */
export function alertGroups(scope: Construct) {
  const rules = ALERTS.map(({ name, severity, expression, during, summary, description }) => ({
    alert: name,
    expr: expression,
    for: during,
    labels: { severity },
    annotations: { summary: templateText(scope, summary), description },
  }));
  return [{ name: 'brupop', rules }];
}
