import { expect, test } from '@jest/globals';
import { Testing } from 'cdk8s';
import { BrupopChart } from '../../../infra/index.ts';
import { PrometheusSample } from '../../../infra/monitoring/prometheus-sample.ts';
import { prometheusImage } from './images.ts';

test('the Prometheus that is built for clusters of tests is the one that the sample names', async () => {
  const chart = new BrupopChart(Testing.app(), 'brupop');
  const { deployment } = new PrometheusSample(chart, 'Prometheus', { brupop: chart.brupop });
  expect(await prometheusImage()).toBe(deployment.toJson().spec.template.spec.containers[0].image);
});
