import { App, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { NOTIFICATIONS_FILE } from '../../runtime/api/notifications/names.ts';
import { Agent } from '../agent.ts';
import { UpdogAgent } from '../agent-updog.ts';
import { Apiserver } from '../apiserver.ts';
import type { Brupop } from '../brupop.ts';
import { Certificates } from '../certificates.ts';
import { Controller } from '../controller.ts';
import { addShadowCrd } from '../crd.ts';
import { Alerts, LONGEST_NOTICE } from '../monitoring/alerts.ts';
import { Dashboard, SIDECAR } from '../monitoring/dashboard.ts';
import { EXPIRING } from '../monitoring/metric-alerts.ts';
import { Monitors } from '../monitoring/monitors.ts';
import { NetworkPolicies } from '../network-policies.ts';
import { addNotifications } from '../notifications.ts';
import { PeopleRoles } from '../people.ts';
import { addPolicyCrd } from '../policy-crd.ts';
import { addReleaseCrd } from '../release-crd.ts';
import { PriorityClasses } from '../priority.ts';
import type { Settings } from '../props/brupop.ts';
import type { ManagedCertificateSettings } from '../props/certificates.ts';
import { settingsOf } from '../props/settings.ts';
import {
  type Decision,
  DECISIONS,
  CERTIFICATES_KIND,
  managedCertificates,
  markedSettings,
  NOTIFIES,
  ofSchedule,
  optional,
  RENEW_BEFORE_HOURS,
  value,
} from './settings.ts';
import { at, changed, type Transform, metadata, placed, pods, service } from './edits.ts';
import { withChecked, withPrometheus } from './checks.ts';
import { NOTIFICATIONS, withNotified } from './notifications.ts';
import { call, type Defines, either, type Mapping, filled, Operand, type Tree } from './template.ts';

/** A file of the chart: objects that are there together or not at all. */
export interface Part {
  readonly file: string;
  /** What has to hold for them to be there. @default always */
  readonly condition?: Operand;
  /** Adds the constructs to a chart. */
  readonly add: (scope: Construct, settings: Settings) => unknown;
  readonly decisions?: readonly Decision[];
  /** What is done to the objects of a kind. */
  readonly changes?: Readonly<Record<string, Transform>>;
}

const {
  readyMadeCertificates,
  checkJobs,
  clientCertificates,
  digest,
  interfaceV1,
  nodeAnnotations,
  nodeLifecycleConditions,
  notifies,
  prometheus,
  scrapePods,
  scrapeServices,
  wildcards,
  knownCallers,
  knownReaders,
} = DECISIONS;

const OPTIONS = [nodeAnnotations, nodeLifecycleConditions, interfaceV1, notifies, checkJobs, prometheus];
const OF_CONTROLLER = [digest, ...OPTIONS, scrapePods, scrapeServices];

const USAGES = ['key encipherment', 'digital signature'];

const leaf: Transform = (object) =>
  changed(object, [
    ['spec/dnsNames', (names = []) => call('uniq', names)],
    [
      'spec/usages',
      (own) => call('concat', [(own as readonly Tree[])[0] ?? ''], optional('certificates.usages', USAGES)),
    ],
    ['spec/privateKey/algorithm', () => optional('certificates.keyAlgorithm', 'RSA')],
    ['spec/commonName', () => optional('certificates.commonName', '')],
    ['spec/subject', () => optional('certificates.subject', {})],
    ['spec/secretTemplate', () => optional('certificates.secretTemplate', {})],
  ]);

const certificates = (kind: 'self-signed' | 'issuer'): Part => ({
  file: `certificates-${kind}.yaml`,
  condition: call('eq', CERTIFICATES_KIND, kind),
  add: (scope, settings) =>
    new Certificates(scope, 'Certificates', {
      settings,
      source: {
        ...managedCertificates(kind),
        wildcards: (settings.certificates as ManagedCertificateSettings).wildcards,
      },
    }),
  decisions: [wildcards],
  // The certificate of the operator's own CA has no DNS names.
  changes: { Certificate: (object) => (at(object, 'spec/dnsNames') ? leaf(object) : object) },
});

/** `helm uninstall` keeps the definitions: deleting one would delete its objects, and with a shadow what is known of failures and permits. */
const kept: Transform = (object) =>
  placed(object, 'metadata/annotations', (own = {}) =>
    call('merge', { ...(own as Mapping), ...KEPT }, value('crdAnnotations')),
  );

const crd: Transform = (object) => {
  const withAnnotation = kept(object);
  const caBundle = 'spec/conversion/webhook/clientConfig/caBundle';
  if (at(object, caBundle) === undefined) return withAnnotation;
  return placed(withAnnotation, caBundle, () => call('b64enc', optional('certificates.caBundle', '')));
};

const KEPT = { 'helm.sh/resource-policy': 'keep' };

/** Puts an object where the user wants it, with the labels that the user's tools look for. */
const watching =
  (group: string, labels = value(`${group}.labels`)): Transform =>
  (object) => {
    const elsewhere = optional(`${group}.namespace`, new Operand('.Release.Namespace'));
    const there = placed(object, 'metadata/namespace', () => elsewhere);
    return placed(there, 'metadata/labels', (own = {}) => call('merge', own, labels));
  };

const monitor =
  (endpoints: string): Transform =>
  (object) =>
    watching('monitors')(placed(object, `spec/${endpoints}/0/interval`, () => value('monitors.interval')));

/** The threshold of the one alert that depends on a value; what is a template of Prometheus is text to Helm. */
const rules: Transform = (object) =>
  placed(watching('alerts')(object), 'spec/groups/0/rules', (all) =>
    (all as readonly Mapping[]).map((rule) =>
      rule['alert'] === EXPIRING
        ? placed(asText(rule), 'expr', (text) => call('printf', (text as string).replace(/\d+$/, '%d'), EXPIRY_SECONDS))
        : asText(rule),
    ),
  );

const EXPIRY_SECONDS = call(
  'ternary',
  LONGEST_NOTICE,
  call('min', LONGEST_NOTICE, call('mul', 1800, RENEW_BEFORE_HOURS)),
  call('eq', CERTIFICATES_KIND, 'secret'),
);

function asText(rule: Mapping): Mapping {
  const templates = ['annotations/summary', 'annotations/description'];
  return changed(
    rule,
    templates.map((path) => [path, (text) => new Operand(JSON.stringify(text))]),
  );
}

/** As much of an operator as what watches it needs. */
class Watched extends Construct {
  readonly settings: Settings;
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.settings = settings;
  }
}

const watched = (scope: Construct, settings: Settings) => ({
  brupop: new Watched(scope, 'Watched', settings) as unknown as Brupop,
});

export const PARTS: readonly Part[] = [
  {
    file: 'priority-classes.yaml',
    condition: value('createPriorityClasses'),
    add: (scope, settings) => new PriorityClasses(scope, 'PriorityClasses', settings),
  },
  {
    file: 'crd.yaml',
    condition: value('createCrd'),
    add: (scope, settings) => addShadowCrd(scope, 'Crd', settings),
    decisions: [readyMadeCertificates],
    changes: { CustomResourceDefinition: crd },
  },
  {
    file: 'policy-crd.yaml',
    condition: value('createCrd'),
    add: (scope, settings) => addPolicyCrd(scope, 'Crd', settings),
    changes: { CustomResourceDefinition: kept },
  },
  {
    file: 'release-crd.yaml',
    condition: value('createCrd'),
    add: (scope, settings) => addReleaseCrd(scope, 'Crd', settings),
    changes: { CustomResourceDefinition: kept },
  },
  certificates('self-signed'),
  certificates('issuer'),
  {
    file: 'apiserver.yaml',
    add: (scope, settings) => new Apiserver(scope, 'Apiserver', settings),
    decisions: [readyMadeCertificates, clientCertificates, digest, scrapePods, scrapeServices],
    changes: { Deployment: pods('apiserver'), Service: service('apiserver') },
  },
  {
    file: 'controller.yaml',
    add: (scope, settings) => new Controller(scope, 'Controller', settings),
    decisions: OF_CONTROLLER,
    changes: {
      ClusterRole: withChecked,
      Deployment: (object) => pods('controller')(withWindow(object)),
      Service: service('controller'),
    },
  },
  {
    file: 'agent.yaml',
    add: (scope, settings) => new Agent(scope, 'Agent', settings),
    decisions: [readyMadeCertificates, clientCertificates, digest],
    changes: { DaemonSet: pods('agent') },
  },
  {
    file: 'agent-updog.yaml',
    condition: value('agent.interfaceV1'),
    add: (scope, settings) => new UpdogAgent(scope, 'UpdogAgent', settings),
    decisions: [readyMadeCertificates, clientCertificates, digest],
    changes: { DaemonSet: pods('agent', { resources: 'agent.interfaceV1Resources', keepsApart: true }) },
  },
  {
    file: 'network-policies.yaml',
    condition: value('networkPolicies.enabled'),
    add: (scope, settings) => new NetworkPolicies(scope, 'NetworkPolicies', notifies.no(settings)),
    decisions: [knownCallers, knownReaders],
    changes: { NetworkPolicy: (object) => withPrometheus(withNotified(object)) },
  },
  {
    file: 'monitors.yaml',
    condition: value('monitors.enabled'),
    add: (scope, settings) => new Monitors(scope, 'Monitors', watched(scope, settings)),
    changes: { ServiceMonitor: monitor('endpoints'), PodMonitor: monitor('podMetricsEndpoints') },
  },
  {
    file: 'alerts.yaml',
    condition: value('alerts.enabled'),
    add: (scope, settings) =>
      new Alerts(scope, 'Alerts', watched(scope, { ...settings, certificates: settingsOf({}).certificates })),
    changes: { PrometheusRule: rules },
  },
  {
    file: 'dashboard.yaml',
    condition: value('dashboard.enabled'),
    add: (scope, settings) => new Dashboard(scope, 'Dashboard', { ...watched(scope, settings), labels: {} }),
    changes: { ConfigMap: watching('dashboard', optional('dashboard.labels', SIDECAR)) },
  },
  {
    file: 'people-roles.yaml',
    condition: value('peopleRoles.enabled'),
    add: (scope, settings) => new PeopleRoles(scope, 'PeopleRoles', watched(scope, settings)),
    decisions: [notifies],
  },
  {
    file: 'notifications.yaml',
    condition: NOTIFIES,
    add: (scope, settings) => addNotifications(scope, 'Notifications', settings),
    changes: {
      ConfigMap: (object) =>
        placed(object, 'data', () => ({
          [NOTIFICATIONS_FILE]: call('include', NOTIFICATIONS, new Operand('$values')),
        })),
    },
  },
];

/** Adds the variables of a daily window. Under a cron expression they are empty, which a process reads as absent. */
function withWindow(deployment: Mapping): Mapping {
  return placed(deployment, 'spec/template/spec/containers/0/env', (env) => [
    ...(env as readonly Tree[]),
    { name: 'UPDATE_WINDOW_START', value: ofSchedule('window', 'start', '') },
    { name: 'UPDATE_WINDOW_STOP', value: ofSchedule('window', 'stop', '') },
  ]);
}

/** The objects of a part. Templates that they use are added to `defines`. */
export function objectsOf(part: Part, defines: Defines): readonly Tree[] {
  const synthesised = (settings: Settings, [decision, ...rest]: readonly Decision[]): Tree => {
    if (decision === undefined) return synth(part, settings, defines);
    const { condition, yes, no } = decision;
    return either(condition, synthesised(yes(settings), rest), synthesised(no(settings), rest));
  };
  return synthesised(markedSettings(), part.decisions ?? []) as readonly Tree[];
}

function synth({ add, changes = {} }: Part, settings: Settings, defines: Defines): readonly Tree[] {
  const chart = new Chart(new App(), 'part');
  add(chart, settings);
  return (chart.toJson() as { readonly kind: string }[]).map((json) => {
    const object = filled(json, defines) as Mapping;
    return metadata((changes[json.kind] ?? ((unchanged) => unchanged))(object));
  });
}
