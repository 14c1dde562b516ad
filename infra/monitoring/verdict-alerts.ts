import { REASONS, traitsOf, type VerdictAlert } from '../../runtime/controller/plan/facts/reasons.ts';
import { sectionOf } from '../../runtime/controller/plan/facts/runbook.ts';
import { type Alert, highest } from './alert.ts';

/** How many nodes have a verdict that calls for this alert, and where that is told of. */
function about(alert: string): Pick<Alert, 'expression' | 'runbook'> {
  const reasons = REASONS.filter((reason) => traitsOf(reason).alert === alert);
  const expression = `${highest(`brupop_controller_verdicts{reason=~"${reasons.join('|')}"}`)} > 0`;
  const [runbook = ''] = reasons.map(sectionOf);
  return { expression, runbook };
}

/** Alerts on why nodes are not being updated, by name: those that the table of verdicts names. */
const BY_NAME: Readonly<Record<VerdictAlert, Omit<Alert, 'name' | 'expression' | 'runbook'>>> = {
  BrupopNodeNotReturned: {
    severity: 'critical',
    during: '0m',
    summary: '{{ $value }} node(s) did not come back from the reboot into an update.',
    description:
      'kubectl brupop status names them. Start or repair the machine, or delete its Node: until then it counts as being updated, so that no further node goes down.',
  },
  BrupopProgressDeadlineExceeded: {
    severity: 'critical',
    during: '0m',
    summary: 'The update of {{ $value }} node(s) makes no progress.',
    description:
      'kubectl brupop status names them, and kubectl brupop why NODE says at which step, since when, and whether the node is Ready. Until it goes on, or its Node is deleted, it may count as being updated.',
  },
  BrupopNotCurrent: {
    severity: 'critical',
    during: '5m',
    summary: '{{ $value }} node(s) wait because the controller does not know the cluster as it is now.',
    description:
      'kubectl brupop why names what cannot be read, and the answer: a right that the role lacks, or an API server that does not answer. The log of the controller says the same: "watch interrupted". Where it is the list of releases: kubectl apply -f dist/brupop.k8s.yaml, or the CustomResourceDefinition bottlerocketreleases.brupop.bottlerocket.aws and the roles of this version.',
  },
  BrupopRolloutHalted: {
    severity: 'critical',
    during: '5m',
    summary: '{{ $value }} node(s) wait because too many others failed on the version that they are offered.',
    description:
      'kubectl brupop releases names the nodes that failed, and how. Repair them, wait for a newer version, or go on in spite of it: kubectl brupop allow VERSION. MAX_FAILED_UPDATE says how many may fail.',
  },
  BrupopTooManyUnhealthy: {
    severity: 'critical',
    during: '5m',
    summary: '{{ $value }} node(s) wait because too many others are not Ready.',
    description:
      'kubectl brupop why names them. No update starts until they are Ready or gone, until you hold those that stay so (kubectl brupop hold NODE), or until MAX_UNHEALTHY is raised (100% = never).',
  },
  BrupopControlPlaneAway: {
    severity: 'critical',
    during: '0m',
    summary: '{{ $value }} node(s) wait because evicted pods would find no successors.',
    description:
      'kube-controller-manager or kube-scheduler has not renewed its Lease in kube-system for a minute: kubectl brupop why says which. No node is drained until it has.',
  },
  BrupopOtherOperator: {
    severity: 'warning',
    during: '5m',
    summary: '{{ $value }} node(s) wait because there is another operator beside this one.',
    description:
      'kubectl brupop why names the namespaces that have BottlerocketShadows besides this one. Take one of the operators away, with its BottlerocketShadows, or set OTHER_OPERATORS to ignore where both are meant.',
  },
  BrupopNoRulingPolicy: {
    severity: 'warning',
    during: '5m',
    summary:
      '{{ $value }} node(s) are not updated, because nobody can say which policy rules them, or it cannot be obeyed.',
    description: 'kubectl brupop why names the policies and what is wrong with them.',
  },
  BrupopSoakFailed: {
    severity: 'warning',
    during: '0m',
    summary: '{{ $value }} node(s) did not stay Ready after their update.',
    description:
      'kubectl brupop status names them. Look at their kubelets. Each counts as being updated, and as failed on its version, until it is Ready.',
  },
  BrupopWorkloadsWorse: {
    severity: 'warning',
    during: '0m',
    summary: 'Pods are clearly worse on {{ $value }} updated node(s) than on nodes that were not updated.',
    description:
      'kubectl brupop why NODE names their owners and what ails them. Each node counts as failed on its version for as long as that is so, or until kubectl brupop clear.',
  },
  BrupopFitsNoWindow: {
    severity: 'warning',
    during: '15m',
    summary: '{{ $value }} node(s) never start: no window ahead is open for as long as their updates take.',
    description:
      'kubectl brupop why says how long that is: as long as the last update of the node took (annotation brupop.bottlerocket.aws/last-update-seconds of its BottlerocketShadow), else the longest of its kind. Open a longer window, start the node with kubectl brupop now NODE, or remove the annotation where it is not typical.',
  },
  BrupopDrainBlocked: {
    severity: 'warning',
    during: '15m',
    summary: 'The drain of {{ $value }} node(s) does not get on.',
    description: 'kubectl brupop status names the disruption budget and the pod.',
  },
  BrupopNoRoom: {
    severity: 'warning',
    during: '15m',
    summary: '{{ $value }} node(s) are not drained, because their pods would find no place elsewhere.',
    description:
      'kubectl brupop why NODE says what is needed and what is free. Add nodes, let the pods ask for less, or take capacity: wait out of the policy.',
  },
  BrupopWriteRefused: {
    severity: 'warning',
    during: '15m',
    summary: 'The API server does not take what the controller writes for {{ $value }} node(s).',
    description:
      'kubectl brupop why names what was refused, and the answer: a policy, a webhook or a right. Where a right is missing: apply the roles of this version (kubectl apply -f dist/brupop.k8s.yaml).',
  },
  BrupopAgentSilent: {
    severity: 'warning',
    during: '15m',
    summary: '{{ $value }} node(s) have no running agent and are not updated.',
    description:
      'kubectl brupop doctor says why the pods of the DaemonSet brupop-agent do not run. Otherwise read their logs.',
  },
  BrupopUnaskedBoot: {
    severity: 'warning',
    during: '0m',
    summary:
      '{{ $value }} node(s) left their version unasked, or booted or went not Ready again and again after their update.',
    description:
      'kubectl brupop timeline NODE says when. Each counts as failed on the version. A node that went back is not updated to it again until somebody runs kubectl brupop retry NODE.',
  },
  BrupopCannotLookForUpdates: {
    severity: 'warning',
    during: '5m',
    summary: '{{ $value }} host(s) cannot look for updates, so nobody knows whether their nodes are up to date.',
    description:
      'kubectl brupop doctor says which, since when, and what the host said. Hosts need https to updates.bottlerocket.aws, or to the repository that their settings.updates name.',
  },
  BrupopCheckFailed: {
    severity: 'warning',
    during: '0m',
    summary: 'A check of its policy failed before, or after, the update of {{ $value }} node(s).',
    description:
      'kubectl brupop why NODE says which, and what it has said. A node is checked again an hour after it has failed before its drain; one that failed after its update counts as failed on the version until kubectl brupop clear.',
  },
  BrupopShadowNotOwned: {
    severity: 'warning',
    during: '15m',
    summary:
      '{{ $value }} node(s) have a BottlerocketShadow that does not name the Node as its owner, and are not updated.',
    description:
      'kubectl brupop status names them. Delete the BottlerocketShadow, brs- and the name of the node: its agent registers the node anew.',
  },
};

export const VERDICT_ALERTS: readonly Alert[] = Object.entries(BY_NAME).map(([name, alert]) =>
  Object.assign({ name, ...about(name) }, alert),
);
