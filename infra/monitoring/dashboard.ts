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

export interface DashboardProps {
  /** The operator that is watched. */
  readonly brupop: Brupop;
  /** Where the objects are to be. @default the operator's */
  readonly namespace?: string | undefined;
  /** Labels by which Grafana's sidecar finds its dashboards. @default grafana_dashboard=1 */
  readonly labels?: Readonly<Record<string, string>>;
}

const dashboardProps = z.strictObject({
  brupop: watchedOperator,
  namespace: namespaceOrAny.optional(),
  labels: freeLabels.default({ grafana_dashboard: '1' }),
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

interface Panel {
  readonly title: string;
  readonly query: string;
  readonly legend: string;
  readonly unit?: string;
}

const PANELS: readonly Panel[] = [
  {
    title: 'Nodes by version',
    query: 'max by (bottlerocket_version) (brupop_hosts_version)',
    legend: 'bottlerocket_version',
  },
  { title: 'Nodes by state', query: 'max by (state) (brupop_hosts_state)', legend: 'state' },
  {
    title: 'Why nodes are not being updated',
    query: 'max by (reason) (brupop_controller_verdicts) > 0',
    legend: 'reason',
  },
  {
    title: 'Nodes by policy',
    query: 'max by (policy, state) (brupop_controller_policy_nodes)',
    legend: 'policy}} {{state',
  },
  {
    title: 'Halted versions by policy',
    query: 'max by (policy) (brupop_controller_policy_halted_releases)',
    legend: 'policy',
  },
  {
    title: 'Evictions',
    query: 'sum by (result) (rate(brupop_apiserver_evictions_total[5m]))',
    legend: 'result',
    unit: 'reqps',
  },
  {
    title: 'Requests to the apiserver',
    query: 'sum by (route, code) (rate(brupop_apiserver_http_requests_total[5m]))',
    legend: 'route}} {{code',
    unit: 'reqps',
  },
  {
    title: 'Refusals',
    query: 'sum by (reason) (rate(brupop_apiserver_refusals_total[5m]))',
    legend: 'reason',
    unit: 'reqps',
  },
];

const WIDTH = 12;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

function dashboard(): object {
  return {
    title: 'Bottlerocket updates',
    uid: 'brupop',
    tags: ['bottlerocket'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: PANELS.map(toPanel),
  };
}

function toPanel({ title, query, legend, unit = 'short' }: Panel, index: number): object {
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: [{ refId: 'A', datasource: DATASOURCE, expr: query, legendFormat: `{{${legend}}}` }],
  };
}
