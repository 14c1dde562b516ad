import { App } from 'cdk8s';
import { BrupopChart } from '../../infra/chart.ts';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../infra/monitoring/monitors.ts';
import { PrometheusSample } from '../../infra/monitoring/prometheus-sample.ts';
import { PeopleRoles } from '../../infra/people.ts';
import type { BrupopProps } from '../../infra/props/brupop.ts';

/** As much of an object as the tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // The rest differs by kind; a test names the path that it means.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [rest: string]: any;
}

export function chartOf(props: BrupopProps = {}): BrupopChart {
  return new BrupopChart(new App(), 'brupop', props);
}

/** The objects of the operator in the order in which they are written. */
export function manifests(props: BrupopProps = {}): Manifest[] {
  return chartOf(props).toJson() as Manifest[];
}

export function find(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`expected one ${kind}/${name}, found ${found.length}`);
  return found[0]!;
}

export const WORKLOADS = {
  agent: ['DaemonSet', 'brupop-agent'],
  apiserver: ['Deployment', 'brupop-apiserver'],
  controller: ['Deployment', 'brupop-controller-deployment'],
} as const;

export type Process = keyof typeof WORKLOADS;
export const PROCESSES = Object.keys(WORKLOADS) as Process[];

export function workload(objects: readonly Manifest[], process: Process): Manifest {
  const [kind, name] = WORKLOADS[process];
  return find(objects, kind, name);
}

export function podSpec(objects: readonly Manifest[], process: Process) {
  return workload(objects, process).spec.template.spec;
}

export function container(objects: readonly Manifest[], process: Process) {
  return podSpec(objects, process).containers[0];
}

/** The literal variables of a container. */
export function literalEnv(objects: readonly Manifest[], process: Process): Record<string, string> {
  const variables = container(objects, process).env as readonly { name: string; value?: string }[];
  return Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

/** All that the package can emit. */
export function everything(props: BrupopProps = {}, sample: object = {}, app = new App()): Manifest[] {
  const chart = new BrupopChart(app, 'brupop', {
    networkPolicies: { enabled: true },
    notifications: {
      targets: [{ name: 'chat', secret: 'chat', format: 'text', template: '{{kind}} ${subject}: {{message}}' }],
    },
    ...props,
    agent: { interfaceV1: true, ...props.agent },
    k3os: { enabled: true, ...props.k3os },
  });
  const { brupop } = chart;
  /* oxlint-disable no-new */
  new Alerts(chart, 'Alerts', { brupop });
  new Dashboard(chart, 'Dashboard', { brupop });
  new Monitors(chart, 'Monitors', { brupop });
  new PrometheusSample(chart, 'Prometheus', { brupop, ...sample });
  new PeopleRoles(chart, 'People', { brupop });
  /* oxlint-enable no-new */
  return chart.toJson() as Manifest[];
}
