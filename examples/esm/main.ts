// The operator on its own, for a cluster with little tolerance: a tenth of the nodes at a time, at night, with alerts.
import { App } from 'cdk8s';
import { Alerts, type BrupopProps, BrupopChart, Monitors } from 'cdk8s-brupop';

const props: BrupopProps = {
  image: { registry: 'mirror.example.com', pullSecrets: ['mirror'] },
  controller: {
    maxConcurrentUpdate: '10%',
    schedule: { kind: 'window', start: '22:00:00', stop: '04:00:00' },
    monitoringTimeInSec: 300,
  },
  agent: { excludeFromLbWaitTimeInSec: 90 },
  networkPolicies: { enabled: true },
};

const app = new App();
const chart = new BrupopChart(app, 'bottlerocket-updates', props);
new Monitors(chart, 'Monitors', { brupop: chart.brupop });
new Alerts(chart, 'Alerts', { brupop: chart.brupop });
app.synth();
