import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import * as z from 'zod';
import { PrometheusRule } from '../../imports/monitoring.coreos.com.ts';
import { DOCUMENTS } from '../../runtime/lib/version.ts';
import type { Brupop } from '../brupop.ts';
import { addObject, namespacedMeta, templateText } from '../objects.ts';
import type { Settings } from '../props/brupop.ts';
import { namespaceOrAny } from '../props/fields.ts';
import { checkProps } from '../props/settings.ts';
import { freeLabels } from '../props/workload.ts';
import { certificateExpiring, METRIC_ALERTS } from './metric-alerts.ts';
import { watchedOperator } from './operator.ts';
import { VERDICT_ALERTS } from './verdict-alerts.ts';

export interface AlertsProps {
  /** The operator that is watched. */
  readonly brupop: Brupop;
  /** Where the objects are to be. @default the operator's */
  readonly namespace?: string | undefined;
  /** Labels by which your Prometheus selects its rules. @default none */
  readonly labels?: Readonly<Record<string, string>>;
}

/** @internal */
export const alertsProps = z.strictObject({
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
        spec: { groups: alertGroups(scope, brupop.settings) },
      }),
    );
  }
}

const DAY = 24 * 3600;
/** Seconds. For files that somebody else renews, nobody knows when. @internal */
export const LONGEST_NOTICE = 14 * DAY;

/** Half of the time in which cert-manager ought to have renewed a certificate, so that a short one is no standing alarm. */
function expirySeconds({ certificates }: Pick<Settings, 'certificates'>): number {
  if (certificates.kind === 'secret') return LONGEST_NOTICE;
  return Math.min(LONGEST_NOTICE, (Number.parseInt(certificates.renewBefore, 10) * 3600) / 2);
}

/** Groups of a file of rules, as every Prometheus loads them. @internal */
export function alertGroups(scope: Construct, settings: Pick<Settings, 'certificates'>) {
  const alerts = [...VERDICT_ALERTS, ...METRIC_ALERTS, certificateExpiring(expirySeconds(settings))];
  const rules = alerts.map(({ name, severity, expression, during, summary, description, runbook }) => ({
    alert: name,
    expr: expression,
    for: during,
    labels: { severity },
    annotations: {
      summary: templateText(scope, summary),
      description: templateText(scope, description),
      runbook_url: `${DOCUMENTS}/${runbook}`,
    },
  }));
  return [{ name: 'brupop', rules }];
}
