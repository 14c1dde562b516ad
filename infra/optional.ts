import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart, Yaml } from 'cdk8s';
import type { Brupop } from './brupop.ts';
import { alertGroups, Alerts } from './monitoring/alerts.ts';
import { dashboard, Dashboard } from './monitoring/dashboard.ts';
import { Monitors } from './monitoring/monitors.ts';
import { PeopleRoles } from './people.ts';

/* oxlint-disable no-new */
/** What goes with an operator where it is wanted: a file each, by its name. */
const CHARTS: Readonly<Record<string, (chart: Chart, brupop: Brupop) => void>> = {
  monitors: (chart, brupop) => void new Monitors(chart, 'Monitors', { brupop }),
  alerts: (chart, brupop) => void new Alerts(chart, 'Alerts', { brupop }),
  'grafana-dashboard': (chart, brupop) => void new Dashboard(chart, 'Dashboard', { brupop }),
  'people-roles': (chart, brupop) => void new PeopleRoles(chart, 'PeopleRoles', { brupop }),
};
/* oxlint-enable no-new */

/**
 * Writes them into a folder: for `kubectl apply`, and the alerts and the dashboard also as a Prometheus and a Grafana load them that know no
 * Kubernetes.
 */
export function writeOptional(outdir: string, brupop: Brupop): void {
  const app = new App({ outdir });
  for (const [name, add] of Object.entries(CHARTS)) add(new Chart(app, name), brupop);
  mkdirSync(outdir, { recursive: true });
  app.synth();
  writeFileSync(join(outdir, 'alerts.rules.yaml'), Yaml.stringify({ groups: alertGroups(app, brupop.settings) }));
  writeFileSync(join(outdir, 'grafana-dashboard.json'), `${JSON.stringify(dashboard(), null, 2)}\n`);
}
