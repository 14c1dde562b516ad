// The operator on its own, for a cluster with little tolerance: the test pool first, then production by zones, at night, with alerts.
import { Alerts, BrupopChart, type BrupopProps, Monitors } from 'cdk8s-brupop';
import type { Construct } from 'constructs';

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

export class Updates extends BrupopChart {
  constructor(scope: Construct) {
    super(scope, 'bottlerocket-updates', props);
    const { brupop } = this;
    new Monitors(this, 'Monitors', { brupop });
    new Alerts(this, 'Alerts', { brupop });
  }
}
