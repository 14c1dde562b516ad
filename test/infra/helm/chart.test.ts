import { beforeAll, describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import * as fc from 'fast-check';
import { BrupopChart } from '../../../infra/chart.ts';
import { helmChart } from '../../../infra/helm/chart.ts';
import { NO_VALUES } from '../../../infra/helm/values.ts';
import { Alerts } from '../../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../../infra/monitoring/monitors.ts';
import { PeopleRoles } from '../../../infra/people.ts';
import { settingsOf } from '../../../infra/props/settings.ts';
import { noHelm } from '../../shell.ts';
import { anyProps } from '../any-props.ts';
import { faults } from '../faults.ts';
import { literalEnv, type Manifest, PROCESSES } from '../manifests.ts';
import { CA } from '../pem.ts';
import { EVERYTHING, type Given, type Values } from './everything.ts';
import { meaning } from './meaning.ts';
import { helm, RELEASE, released as releasedBy, template as helmTemplate, writeChart } from './rendered.ts';
import { runs } from '../../random.ts';
import { shared } from '../../folder.ts';

const files = helmChart('infra');
const MINUTE = 60_000;
const template = (values: Values, namespace = RELEASE.namespace) => helmTemplate(shared, values, namespace);
const released = (values: Values) => releasedBy(shared, values);

beforeAll(() => writeChart(shared, files));

/** What Helm has no value for. */
const NO_VALUE = { ...RELEASE, createNamespace: false, k3os: {} };

/** What the constructs make of the same. */
function synthesised({ monitors, alerts, dashboard, peopleRoles, ...props }: Given): Manifest[] {
  const chart = new BrupopChart(new App(), 'brupop', { ...props, ...NO_VALUE });
  const { brupop } = chart;
  const given = ({ enabled, ...rest }: Values = {}) => (enabled === true ? { brupop, ...rest } : undefined);
  const [watched, alerted, shown, ruled] = [given(monitors), given(alerts), given(dashboard), given(peopleRoles)];
  if (watched) new Monitors(chart, 'Monitors', watched);
  if (alerted) new Alerts(chart, 'Alerts', alerted);
  if (shown) new Dashboard(chart, 'Dashboard', shown);
  if (ruled) new PeopleRoles(chart, 'PeopleRoles', ruled);
  return chart.toJson() as Manifest[];
}

function valuesOf(given: Given): Values {
  const values: Record<string, unknown> = { ...given };
  for (const name of NO_VALUES) delete values[name];
  const defaults = settingsOf({});
  for (const process of PROCESSES) {
    values[process] = { ...given[process], ...amountsOf(given[process] ?? {}, defaults[process]) };
  }
  return values;
}

type Amounts = Readonly<Record<string, Readonly<Record<string, Record<string, unknown>>>>>;

/** Helm merges maps, so an amount that is not given has to be taken out. */
function amountsOf(given: object, defaults: object): object {
  const all = Object.keys(defaults).filter((name) => /resources$/i.test(name) && name in given);
  return Object.fromEntries(
    all.map((name) => {
      const parts = Object.entries((given as Amounts)[name] ?? {}).map(([part, amounts]) => {
        const own = Object.keys((defaults as Amounts)[name]?.[part] ?? {});
        return [part, { ...Object.fromEntries(own.map((one) => [one, null])), ...amounts }];
      });
      return [name, Object.fromEntries(parts)];
    }),
  );
}

const CHAT = { name: 'chat', secret: 'chat', format: 'slack' };
const target = (one: Values): Values => ({ notifications: { targets: [{ ...CHAT, ...one }] } });
const silencer = (one: Values): Values => ({ notifications: { silences: [{ name: 'a', secret: 'a', ...one }] } });
const policy = (name: string, spec: Values = {}): Values => ({ name, nodeSelector: {}, ...spec });

(noHelm ? describe.skip : describe)(noHelm ? 'the Helm chart (skipped: no helm on the PATH)' : 'the Helm chart', () => {
  test('with its own values is what the constructs synthesise', () => {
    expect(meaning(released({}))).toEqual(meaning(synthesised({})));
  });

  test.each(Object.entries(EVERYTHING))('makes of the values what the constructs make of the props: %s', (_, given) => {
    expect(meaning(released(valuesOf(given)))).toEqual(meaning(synthesised(given)));
  });

  test(
    'makes of any values what the constructs make of the props',
    () =>
      fc.assert(
        fc.property(anyProps, (props) => {
          expect(meaning(released(valuesOf(props)))).toEqual(meaning(synthesised(props)));
        }),
        { ...runs(10), interruptAfterTimeLimit: MINUTE },
      ),
    2 * MINUTE,
  );

  test.each(['http://[fd00::1]', 'https://[fd00::1]:9443/p:1/'])(
    'lets the controller connect to a Prometheus at %j as the constructs do',
    (prometheusUrl) => {
      const given = { networkPolicies: { enabled: true }, controller: { prometheusUrl } };
      expect(meaning(released(given))).toEqual(meaning(synthesised(given)));
    },
  );

  test('hands texts to the processes whatever kind of value they come from', () => {
    const objects = released({ controller: { maxConcurrentUpdate: 5, labelNodes: true, monitoringTimeInSec: 1e6 } });
    expect(literalEnv(objects, 'controller')).toMatchObject({
      MAX_CONCURRENT_UPDATE: '5',
      LABEL_NODES: 'true',
      MONITORING_TIME_IN_SEC: '1000000',
    });
  });

  test.each<[Values, string]>([
    [{ controler: {} }, 'controler'],
    [{ agent: { env: { HTTP_PORT: '1' } } }, 'env'],
    [{ namespace: 'elsewhere' }, 'namespace'],
    [{ labels: { 'brupop.bottlerocket.aws/component': 'x' } }, '/labels'],
    [{ agent: { podLabels: { 'app.kubernetes.io/part-of': 'x' } } }, '/agent/podLabels'],
    [{ labels: { a: '-' } }, '/labels/a'],
    [{ image: { digest: 'sha256:1' } }, '/image/digest'],
    [{ image: { tag: 'latest' } }, '/image/tag'],
    [{ clusterDomain: 'a.'.repeat(130) + 'b' }, '/clusterDomain'],
    [{ agent: { httpPort: 80 } }, '/agent/httpPort'],
    [{ agent: { httpPort: '8080' } }, '/agent/httpPort'],
    [{ apiserver: { replicas: 0 } }, '/apiserver/replicas'],
    [{ apiserver: { drainPreflight: 'maybe' } }, '/apiserver/drainPreflight'],
    [{ apiserver: { internalPort: 9000, httpPort: 9000 } }, 'apiserver.httpPort'],
    [{ logging: { filter: 'loud' } }, '/logging/filter'],
    [{ controller: { maxConcurrentUpdate: 'ten' } }, '/controller/maxConcurrentUpdate'],
    [{ controller: { maxConcurrentUpdate: 601 } }, '/controller/maxConcurrentUpdate'],
    [{ controller: { maxConcurrentUpdate: '601' } }, '/controller/maxConcurrentUpdate'],
    [{ controller: { maxFailedUpdate: '101%' } }, '/controller/maxFailedUpdate'],
    [{ controller: { monitoringTimeInSec: 1.5 } }, '/controller/monitoringTimeInSec'],
    [{ controller: { schedule: { kind: 'never' } } }, '/controller/schedule'],
    [{ controller: { schedule: { kind: 'cron', expression: '0 2 * * *' } } }, '/controller/schedule/expression'],
    [
      { controller: { schedule: { kind: 'window', start: '24:00:00', stop: '01:00:00' } } },
      '/controller/schedule/start',
    ],
    [{ controller: { schedule: { kind: 'window', start: '01:00:00', stop: '01:00:00' } } }, 'controller.schedule.stop'],
    [{ certificates: { kind: 'self-signed', renewBefore: '2160h' } }, 'certificates.renewBefore'],
    [{ certificates: { kind: 'self-signed', duration: '2160h', caDuration: '2159h' } }, 'certificates.caDuration'],
    [{ certificates: { kind: 'issuer' } }, 'certificates.name'],
    [{ certificates: { kind: 'self-signed', keyAlgorithm: 'ECDSA', keySize: 2048 } }, 'certificates.keySize'],
    [{ certificates: { kind: 'issuer', name: 'x', issuerKind: 'Authority' } }, 'certificates.issuerKind'],
    [{ networkPolicies: { kubernetesApiCidrs: ['10.0.0.0'] } }, '/networkPolicies/kubernetesApiCidrs/0'],
    [target({ format: 'pager' }), '/notifications/targets/0/format'],
    [target({ kinds: ['Everything'] }), '/notifications/targets/0/kinds/0'],
    [target({ proxy: 'http://user:word@proxy.example.com' }), 'notifications.targets.0.proxy'],
    [target({ template: '{{message}}' }), 'notifications.targets.0.template'],
    [target({ format: 'text', template: '{{ messages }}' }), 'notifications.targets.0.template'],
    [target({ format: 'json' }), 'notifications.targets.0.template'],
    [target({ format: 'json', template: '{"text": {{message}}, }' }), 'notifications.targets.0.template'],
    [target({ caBundle: 'none' }), '/notifications/targets/0/caBundle'],
    [{ notifications: { targets: [CHAT, CHAT] } }, 'notifications.targets.1.name'],
    [silencer({ matchers: [{ name: 'node', value: 'n1' }] }), 'notifications.silences.0.matchers'],
    [silencer({ durationInSec: 1 }), '/notifications/silences/0/durationInSec'],
    [{ policies: [{ name: 'test' }] }, '/policies/0'],
    [{ policies: [policy('test', { windowFit: 'loose' })] }, '/policies/0/windowFit'],
    [{ policies: [policy('test'), policy('test')] }, 'policies.1.name'],
    [{ policies: [policy('test', { after: ['tests'] })] }, 'policies.0.after.0'],
    [
      {
        apiserver: { requireClientCertificate: true },
        certificates: { kind: 'secret', serverSecret: 'tls', caBundle: CA },
      },
      'certificates.caSecret',
    ],
  ])('refuses what the props refuse, and says where: %j', (given, where) => {
    // The namespace is none of a release's values.
    if (!('namespace' in given)) expect(faults(given)).not.toEqual([]);
    const { status, stderr } = template(given);
    expect(stderr).toContain(where);
    expect(status).not.toBe(0);
  });

  test('refuses a private key for a certificate, and does not repeat it', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\n';
    for (const caBundle of [key, CA + key, `${key}${CA}`]) {
      const { status, stdout, stderr } = template({ certificates: { kind: 'secret', serverSecret: 'tls', caBundle } });
      expect(status).not.toBe(0);
      expect(stderr).toContain('/certificates/caBundle');
      expect(stdout + stderr).not.toContain('MIGHAgEAMBMGByqGSM49');
    }
  });

  test.each(['default', 'kube-system'])('refuses the namespace %s', (namespace) => {
    expect(template({}, namespace)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('expected one of its own'),
    });
  });

  test('has nothing that its linter objects to', () => {
    expect(helm(shared, 'lint', '--strict', '--namespace', 'updates', '.').stdout).toContain('0 chart(s) failed');
  });
});
