import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import * as z from 'zod';
import type { Brupop } from '../brupop.ts';
import { manifest } from '../manifest.ts';
import { addObject, jsonText, namespacedMeta } from '../objects.ts';
import { namespaceOrAny } from '../props/fields.ts';
import { checkProps } from '../props/settings.ts';
import { freeLabels } from '../props/workload.ts';
import { watchedOperator } from './operator.ts';
import { type Panel, PANELS } from './panels.ts';

export interface DashboardProps {
  /** The operator that is watched. */
  readonly brupop: Brupop;
  /** Where the objects are to be. @default the operator's */
  readonly namespace?: string | undefined;
  /** Labels by which Grafana's sidecar finds its dashboards. @default grafana_dashboard=1 */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The label by which Grafana's sidecar finds dashboards, unless told otherwise. @internal */
export const SIDECAR = { grafana_dashboard: '1' };

/** @internal */
export const dashboardProps = z.strictObject({
  brupop: watchedOperator,
  namespace: namespaceOrAny.optional(),
  labels: freeLabels.default(SIDECAR),
} satisfies Record<keyof DashboardProps, z.ZodType>);

/** A Grafana dashboard in a ConfigMap, as Grafana's sidecar picks it up. */
export class Dashboard extends Construct {
  readonly configMap: ApiObject;

  /** @throws InvalidPropsError */
  constructor(scope: Construct, id: string, props: DashboardProps) {
    const { brupop, namespace, labels } = checkProps(dashboardProps, props);
    super(scope, id);
    this.configMap = addObject(
      this,
      'ConfigMap',
      manifest('ConfigMap', {
        metadata: namespacedMeta(brupop.settings, { name: 'brupop-dashboard', namespace, labels }),
        data: { 'brupop.json': jsonText(dashboard()) },
      }),
    );
  }
}

const WIDTH = 12;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Choices of a label's values. All of them is also what has no such label, as where Prometheus has one cluster only. */
const variable = (name: string, metric: string) => ({
  name,
  type: 'query',
  datasource: DATASOURCE,
  query: `label_values(${metric}, ${name})`,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: ['All'], value: ['$__all'] },
});

/** As Grafana imports it. @internal */
export function dashboard(): object {
  return {
    title: 'Bottlerocket updates',
    uid: 'brupop',
    tags: ['bottlerocket'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        variable('cluster', 'brupop_controller_leader'),
        variable('policy', 'brupop_controller_policy_nodes{cluster=~"$cluster"}'),
      ],
    },
    panels: PANELS.map(toPanel),
  };
}

function toPanel({ title, query, by, unit = 'short' }: Panel, index: number): object {
  const legendFormat = ['cluster', ...by].map((label) => `{{${label}}}`).join(' ');
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: [{ refId: 'A', datasource: DATASOURCE, expr: query, legendFormat }],
  };
}
