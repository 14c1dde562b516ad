import { App, type ApiObject, JsonPatch, Yaml } from 'cdk8s';
import { VERSION } from '../../runtime/lib/version.ts';
import { BrupopChart } from '../chart.ts';
import type { Component } from '../labels.ts';
import type { BrupopProps } from '../props/brupop.ts';
import { podSlots, valuesOf, type WorkloadSpec } from './slots.ts';

/** Stands for the release's namespace until the text is written: names are checked, and an expression is none. */
const NAMESPACE_MARK = 'namespace-of-the-release';
/** An expression that is a whole scalar. It writes JSON, so it brings its own quotes where it needs any. */
const QUOTED_EXPRESSION = /"(\{\{[^"{}]*\}\})"/g;

const CHART = {
  apiVersion: 'v2',
  name: 'brupop',
  description: 'An update operator for Bottlerocket nodes. Its certificates come from cert-manager.',
  type: 'application',
  version: VERSION,
  appVersion: VERSION,
  kubeVersion: '>=1.27.0-0',
};

/** The operator as a Helm chart: text by file name. What has no value in it takes the constructs. @param image that its values name */
export function helmChart(image: Pick<BrupopProps, 'image'> = {}): Readonly<Record<string, string>> {
  const chart = new BrupopChart(new App(), 'brupop', { ...image, namespace: NAMESPACE_MARK, createNamespace: false });
  const { agent, apiserver, controller } = chart.brupop;
  const slots = [
    ...open(agent.daemonSet, 'agent'),
    ...open(apiserver.deployment, 'apiserver'),
    ...open(controller.deployment, 'controller'),
  ];
  return {
    'Chart.yaml': Yaml.stringify(CHART),
    'values.yaml': Yaml.stringify(valuesOf(slots)),
    'templates/brupop.yaml': templateOf(chart),
  };
}

/** Puts the expressions of its slots into a workload. */
function open(workload: ApiObject, component: Component) {
  const slots = podSlots((workload.toJson() as { readonly spec: WorkloadSpec }).spec, component);
  workload.addJsonPatch(...slots.map(({ place, expression }) => JsonPatch.add(place, expression)));
  return slots;
}

function templateOf(chart: BrupopChart): string {
  return Yaml.stringify(...(chart.toJson() as object[]))
    .replaceAll(NAMESPACE_MARK, '{{ .Release.Namespace }}')
    .replace(QUOTED_EXPRESSION, '$1');
}
