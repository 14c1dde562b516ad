// The operator on its own, for a cluster with little tolerance: the test pool first, then production by zones, at night, with alerts.
import { App } from 'cdk8s';
import { Alerts, type BrupopProps, BrupopChart, Monitors } from 'cdk8s-brupop';

const props: BrupopProps = {
  image: { registry: 'mirror.example.com', pullSecrets: ['mirror'] },
  controller: {
    // Over all policies together.
    maxConcurrentUpdate: '20%',
    schedule: { kind: 'window', start: '22:00:00', stop: '04:00:00' },
    monitoringTimeInSec: 300,
  },
  policies: [
    { name: 'test', nodeSelector: { matchLabels: { 'example.com/stage': 'test' } }, maxConcurrent: '50%', windows: [] },
    {
      name: 'production',
      nodeSelector: { matchLabels: { 'example.com/stage': 'production' } },
      after: ['test'],
      proof: { nodes: 1, soak: '24h' },
      maxConcurrent: '10%',
      zones: { atOnce: 1 },
      freezes: [{ from: '2026-12-18T00:00:00Z', to: '2027-01-04T06:00:00Z', reason: 'code freeze' }],
    },
  ],
  agent: { excludeFromLbWaitTimeInSec: 90 },
  networkPolicies: { enabled: true },
};

const app = new App();
const chart = new BrupopChart(app, 'bottlerocket-updates', props);
new Monitors(chart, 'Monitors', { brupop: chart.brupop });
new Alerts(chart, 'Alerts', { brupop: chart.brupop });
app.synth();
