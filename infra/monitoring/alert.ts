export interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  readonly expression: string;
  /** How long it must hold. */
  readonly during: string;
  /** A template of Prometheus. The value is the number of nodes, unless the metric says otherwise. */
  readonly summary: string;
  /** A template too: what it means and what to do, with the command that shows more. */
  readonly description: string;
  /** The section that says what to do: a file in `docs`, and a heading. */
  readonly runbook: string;
}

/**
 * Labels by which replicas of one process differ. All others stay on the alert: those of the rule's own metric, and what tells clusters or
 * namespaces apart in a Prometheus that has several.
 */
const OF_REPLICA = 'instance, pod, node, kubernetes_pod_name, pod_template_hash';

/** Only the leader knows best, and shows the highest value of all replicas. */
export const highest = (metric: string): string => `max without (${OF_REPLICA}) (${metric})`;
export const lowest = (metric: string): string => `min without (${OF_REPLICA}) (${metric})`;

/**
 * True of each cluster that has shown the metric within a day and does not show it now; and, without labels, where none has for a day. A
 * cluster whose operator was taken away is forgotten after that day.
 */
export const gone = (metric: string, condition = ''): string =>
  `${highest(`max_over_time(${metric}[1d])`)} unless ${highest(metric)}${condition} or absent_over_time(${metric}[1d])`;
